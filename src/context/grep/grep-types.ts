export type GrepMode = "regex" | "full_text";
export type GrepScope = "messages" | "summaries" | "files" | "both";
export type GrepSort = "recency" | "relevance" | "hybrid";

export interface GrepOptions {
  agent: string;
  pattern: string;
  mode: GrepMode;
  /** `both` is messages and summaries. */
  scope: GrepScope;
  /** Only these conversations; all of the agent's when absent. */
  conversations?: number[];
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
export interface Hunt extends GrepOptions {
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
