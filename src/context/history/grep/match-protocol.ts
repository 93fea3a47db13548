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

/** What the main thread asks the matching thread; one request at a time. */
export type MatchRequest =
  /** Answered when the thread has loaded its code. */
  | { op: "start" }
  | { op: "compile"; pattern: string }
  /** The first `max` of the texts that match. */
  | { op: "texts"; texts: readonly string[]; max: number }
  /** The first `max` lines of a text that match. */
  | { op: "lines"; text: string; max: number };

export type MatchAnswer = undefined | TextMatch[] | LineMatch[];

export type MatchReply =
  | { value: MatchAnswer; error?: undefined }
  | { error: { code: string; message: string; remedy?: string } };
