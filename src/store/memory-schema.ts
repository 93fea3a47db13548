import type { Generated } from "kysely";

/** The tables of memories. Their tenant is the scope: agents share some of them, so the agent is only who wrote them. */

/** One version of a memory. */
export interface MemoryTable {
  num: number;
  scope: string;
  id: string;
  /** The id of its first version. */
  root: string;
  version: number;
  agent: string;
  category: string;
  abstract: string;
  overview: string;
  content: string;
  importance: number;
  confidence: number;
  tier: string;
  temporal_type: string;
  created_at: number;
  last_accessed_at: number | null;
  access_count: number;
  valid_from: number;
  invalidated_at: number | null;
  expires_at: number | null;
  forgotten_at: number | null;
  supersedes: string | null;
  superseded_by: string | null;
  fact_key: string | null;
  trust: string;
  extractor: string;
  fiction: number;
}

/** What a memory rests on: a range of characters in the text of an entry. */
export interface MemorySourceTable {
  memory: string;
  position: number;
  agent: string;
  session_id: string;
  seq: number;
  start_at: number;
  end_at: number;
}

export interface MemoryRelationTable {
  memory: string;
  other: string;
  kind: string;
  label: string;
  created_at: number;
}

export interface MemorySupportTable {
  memory: string;
  label: string;
  confirmed: number;
  contradicted: number;
}

export interface MemoryVectorTable {
  /** Counted up by the database; PostgreSQL may commit a lower one a little after a higher one. */
  written: Generated<number>;
  scope: string;
  space: number;
  num: number;
  memory: string;
  /** Signed bytes; the length does not matter for a cosine. */
  vector: Uint8Array;
}

/** A candidate that a person is to decide on. */
export interface MemoryReviewTable {
  id: string;
  scope: string;
  agent: string;
  state: string;
  /** The candidate, as JSON. */
  candidate: string;
  score: number;
  features: string;
  created_at: number;
  decided_at: number | null;
}

/** How far a conversation was read for memories. */
export interface MemoryCursorTable {
  agent: string;
  conversation: number;
  seq: number;
  updated_at: number;
}

/** What was put beside a message, word for word. */
export interface MemoryRecallTable {
  agent: string;
  conversation: number;
  seq: number;
  time: number;
  prompt: string;
  block: string;
  tokens: number;
  /** The ids, as a JSON list. */
  memories: string;
}

/** A version of a file; null is a file that was removed. */
export interface MemoryFileTable {
  scope: string;
  path: string;
  version: number;
  content: string | null;
  created_at: number;
}

/** Counts of use that were written, so that none is written twice. */
export interface MemoryAccessTable {
  batch: string;
  time: number;
}

/** What of a budget was used since a time: calls of the hour, tokens of the day. */
export interface MemorySpendTable {
  agent: string;
  span: string;
  started_at: number;
  used: number;
}
