import type { Generated } from "kysely";

/** Tables of memories. Their tenant is the scope, because agents share memories; `agent` is only the author. */

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
  /** Until when a doubtful memory is kept without a confirmation; null for every other memory. */
  tentative_until: number | null;
}

/** Evidence of a memory: a range of characters in the text of an entry. */
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
  /** Assigned by the database; PostgreSQL may commit a lower number shortly after a higher one. */
  written: Generated<number>;
  scope: string;
  space: number;
  num: number;
  memory: string;
  /** Signed bytes, not normalised: a cosine does not depend on the length. */
  vector: Uint8Array;
  /** As in `EntryVectorTable`. */
  embedding?: string | null;
}

/** A candidate that admission did not simply accept. */
export interface MemoryReviewTable {
  id: string;
  scope: string;
  agent: string;
  state: string;
  /** The candidate, as JSON. */
  candidate: string;
  score: number;
  features: string;
  /** The tentative memory that was stored for it. */
  memory: string | null;
  created_at: number;
  decided_at: number | null;
}

/** How far a conversation has been processed for memories. */
export interface MemoryCursorTable {
  agent: string;
  conversation: number;
  seq: number;
  /** Imported messages before this one are not processed yet; null when there are none. */
  unread_before: number | null;
  updated_at: number;
}

/** The memories shown with a message, verbatim. */
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

/** A version of a file; null content means that the file was removed. */
export interface MemoryFileTable {
  scope: string;
  path: string;
  version: number;
  content: string | null;
  created_at: number;
}

/** Batches of access counts that were already written, so that none is counted twice. */
export interface MemoryAccessTable {
  batch: string;
  time: number;
}

/** Budget used since `started_at`: calls per hour, tokens per day. */
export interface MemorySpendTable {
  agent: string;
  span: string;
  started_at: number;
  used: number;
}
