import type { LineMatch, TextMatch } from "./match-protocol.ts";

/** Finds the matches of one search in texts. Several calls may run at the same time. */
export interface Matcher {
  /** How many calls are worth starting at the same time. */
  readonly parallel: number;
  /** The first `max` of the texts that match. */
  findTexts(texts: readonly string[], max: number): Promise<TextMatch[]>;
  /** The first `max` lines of a text that match. */
  findLines(text: string, max: number): Promise<LineMatch[]>;
}
