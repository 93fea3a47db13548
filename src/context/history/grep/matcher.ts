import type { LineMatch, MessageMatch, TextMatch } from "./match-protocol.ts";

/** Finds the matches of one search in texts. Several calls may run at the same time. */
export interface Matcher {
  /** How many calls are worth starting at the same time. */
  readonly parallel: number;
  /** The first `max` of the texts that match. */
  findTexts(texts: readonly string[], max: number): Promise<TextMatch[]>;
  /** The first `max` lines of a text that match. */
  findLines(text: string, max: number): Promise<LineMatch[]>;
}

/** Also reads messages by itself, where the store has a file that it can open. */
export interface PatternMatcher extends Matcher {
  readonly canRead: boolean;
  /** The first `max` messages among some entries that match. Between two reads it stops when `isWanted` is false. */
  findMessages(seqs: readonly number[], max: number, isWanted: () => boolean): Promise<FoundMessages>;
}

export interface FoundMessages {
  /** How many messages were loaded; all, unless there were `max` matches before. */
  count: number;
  matches: MessageMatch[];
  /** Messages that were not searched, because they have to be read through the store. */
  unread: { index: number; seq: number }[];
}
