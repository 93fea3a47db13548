import type { Visibility } from "../../../authorization/index.ts";
export type GrepMode = "regex" | "full_text";
export type GrepScope = "messages" | "summaries" | "files" | "both";
export type GrepSort = "recency" | "relevance" | "hybrid";

export interface GrepOptions extends Visibility {
  pattern: string;
  mode: GrepMode;
  /** `both` is messages and summaries. */
  scope: GrepScope;
  /** Milliseconds since 1970; from then on, and before then. */
  since?: number;
  before?: number;
  limit: number;
  sort: GrepSort;
  signal?: AbortSignal;
}

export interface GrepMatch {
  kind: "message" | "summary" | "file";
  /** `msg#12`, `sum_…`, `file_…` */
  citation: string;
  conversation: number;
  time: number;
  /** Who spoke, for a message. */
  role?: string;
  snippet: string;
  score: number;
}

export interface GrepResult {
  matches: GrepMatch[];
  /** How many texts were looked at, or could be told apart by the index. */
  searched: { messages: number; summaries: number; files: number };
  /** What was left out, in words; absent when nothing was. */
  cut?: string;
}

/** What is to be found, for the parts that look for it. */
export interface CompiledGrep extends GrepOptions {
  words: string[];
  find(text: string): { from: number; to: number } | undefined;
  needle?: string;
}

export interface Found {
  matches: GrepMatch[];
  searched: number;
  /** Whether there were more than the limit. */
  more: boolean;
}

const snippetCharacters = 200;

/** The text around a match on one line, at most 200 characters. */
export function snippetAround(text: string, from: number, to: number): string {
  const length = Math.min(to - from, snippetCharacters - 2);
  const beside = Math.floor((snippetCharacters - 2 - length) / 2);
  const start = Math.max(0, from - beside);
  const end = Math.min(text.length, start + snippetCharacters - 2);
  const piece = text.slice(start, end).toWellFormed().replaceAll(/\s+/g, " ");
  return `${start > 0 ? "…" : ""}${piece}${end < text.length ? "…" : ""}`.slice(0, snippetCharacters);
}

/** The first place of any of some words, without regard to case; the beginning when none is there as it is. */
export function placeOfWords(text: string, words: readonly string[]): { from: number; to: number } {
  const lower = text.toLowerCase();
  let best: { from: number; to: number } | undefined;
  for (const word of words) {
    const from = lower.indexOf(word.toLowerCase());
    if (from !== -1 && (best === undefined || from < best.from)) best = { from, to: from + word.length };
  }
  return best ?? { from: 0, to: 0 };
}
