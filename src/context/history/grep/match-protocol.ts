import type { EntryFileAddress } from "../../../store/index.ts";

/** A place of a match in a text. */
export interface Place {
  from: number;
  to: number;
}

/** A match in one of several texts. */
export interface TextMatch extends Place {
  index: number;
}

/** A match in a line of a file, counted from 1. */
export interface LineMatch extends Place {
  line: number;
}

/** A match in one of several messages. */
export interface MessageMatch {
  index: number;
  seq: number;
  conversation: number;
  time: number;
  /** The role of the message, or the type of its entry. */
  kind: string;
  snippet: string;
}

/** The entries that threads read by themselves. */
export interface EntrySource {
  address: EntryFileAddress;
  agent: string;
}

/** Messages that a thread has loaded. */
export interface LoadReport {
  /** How many of the entries were read; the others did not fit. */
  read: number;
  /** How many messages are among them. */
  count: number;
  /** The messages that have to be read through the store. */
  unread: { index: number; seq: number }[];
}

/** A request of the main thread to the matching thread; one at a time. */
export type MatchRequest =
  /** Answered when the thread has loaded its code. */
  | { op: "start" }
  | { op: "compile"; pattern: string }
  /** The first `max` of the texts that match. */
  | { op: "texts"; texts: readonly string[]; max: number }
  /** The first `max` lines of a text that match. */
  | { op: "lines"; text: string; max: number }
  /** Opens the file of the entries until `close`. */
  | { op: "open"; source: EntrySource }
  /** Reads messages into the thread: a request of its own, because the time of a search is the time of matching. */
  | { op: "load"; seqs: readonly number[]; charactersMax: number }
  /** The first `max` of the loaded messages that match. */
  | { op: "messages"; max: number }
  | { op: "close" };

export type MatchAnswer = undefined | TextMatch[] | LineMatch[] | MessageMatch[] | LoadReport;

export type MatchReply =
  | { value: MatchAnswer; error?: undefined }
  | { error: { code: string; message: string; remedy?: string } };
