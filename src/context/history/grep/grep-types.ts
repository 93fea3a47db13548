import type { Visibility } from "../../../authorization/index.ts";
import type { Matcher, PatternMatcher } from "./matcher.ts";

export type GrepMode = "regex" | "full_text";
export type GrepScope = "messages" | "summaries" | "files" | "both";
export type GrepSort = "recency" | "relevance" | "hybrid";

export interface GrepOptions extends Visibility {
  pattern: string;
  mode: GrepMode;
  /** `both` is messages and summaries. */
  scope: GrepScope;
  /** Milliseconds since 1970, inclusive and exclusive. */
  since?: number;
  before?: number;
  limit: number;
  sort: GrepSort;
  /** Who asks; searches of one caller wait for each other. */
  caller: string;
  signal?: AbortSignal;
}

export interface GrepMatch {
  kind: "message" | "summary" | "file";
  /** `msg#12`, `sum_…`, `file_…` */
  citation: string;
  conversation: number;
  time: number;
  /** The role of a message. */
  role?: string;
  /** The line of a match in a file. */
  line?: number;
  snippet: string;
  score: number;
}

export interface GrepResult {
  matches: GrepMatch[];
  /** How many texts were read, or excluded by the index. */
  searched: { messages: number; summaries: number; files: number };
  /** A note about omitted content; absent when nothing was omitted. */
  cut?: string;
}

/** A request with its compiled pattern. */
export interface CompiledGrep extends GrepOptions {
  words: string[];
  matcher: Matcher;
}

/** A request for a regular expression. */
export interface PatternGrep extends CompiledGrep {
  matcher: PatternMatcher;
  needle?: string;
}

/** The matches so far: they count also when the search is stopped. */
export interface Found {
  matches: GrepMatch[];
  searched: number;
  /** Whether there were more than the limit. */
  more: boolean;
  /** How many of the newest matches were ordered, when there were too many to order all. */
  newestRanked?: number;
}

const snippetCharacters = 200;

/** The text around a match on one line, at most 200 characters. */
export function snippetAround(text: string, from: number, to: number): string {
  const length = Math.min(to - from, snippetCharacters - 2);
  const margin = Math.floor((snippetCharacters - 2 - length) / 2);
  const start = Math.max(0, from - margin);
  const end = Math.min(text.length, start + snippetCharacters - 2);
  const piece = text.slice(start, end).toWellFormed().replaceAll(/\s+/g, " ");
  return `${start > 0 ? "…" : ""}${piece}${end < text.length ? "…" : ""}`.slice(0, snippetCharacters);
}

/** The first position of any of some words, ignoring case; the start when none occurs literally. */
export function placeOfWords(text: string, words: readonly string[]): { from: number; to: number } {
  const lower = text.toLowerCase();
  let best: { from: number; to: number } | undefined;
  for (const word of words) {
    const from = lower.indexOf(word.toLowerCase());
    if (from !== -1 && (best === undefined || from < best.from)) best = { from, to: from + word.length };
  }
  return best ?? { from: 0, to: 0 };
}
