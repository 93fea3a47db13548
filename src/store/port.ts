import type { Compilable } from "kysely";
import type { Clock, Random } from "../domain/index.ts";
import type { MemorySourceTable, MemorySupportTable, MemoryTable } from "./memory-schema.ts";
import type { Db, Tx } from "./schema.ts";

export type EngineName = "sqlite" | "postgres";

/**
 * The store port. Reads go through `db`, one statement each, and never block a write. Writes happen inside
 * `transaction`, which is short by contract: no model, no network, no file is waited for inside one. `append` is a
 * whole durable transaction of its own in one call, because it is the path every message takes.
 */
export interface Store {
  readonly engine: EngineName;
  readonly db: Db;
  /** The time and randomness of everything that is written. */
  readonly clock: Clock;
  readonly random: Random;
  transaction<T>(work: (tx: StoreTransaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  append(batch: AppendBatch): Promise<AppendResult>;
  /** Several reads that do not need each other's answers, in one way to the store and back. */
  readBatch<const Queries extends readonly Compilable[]>(queries: Queries): Promise<BatchRows<Queries>>;
  /** Some statements as one transaction, in one way to the store and back; none needs the answer of another. */
  writeBatch<const Queries extends readonly Compilable[]>(
    queries: Queries,
    options?: TransactionOptions & { /** As `lock` of a transaction. */ lock?: string },
  ): Promise<BatchResults<Queries>>;
  /**
   * Writes a memory with everything that belongs to it, durably, in one call: most are written one by one. Unless some
   * may say the same: then they are the answer, and nothing is written.
   */
  insertMemory(memory: NewMemoryRows, unless?: NearDuplicateQuery): Promise<MemoryTextMatch[]>;
  /** Entries whose text matches, best or newest first. */
  matchText(query: TextQuery): Promise<TextMatch[]>;
  /** How many entries hold each word, of how many. */
  countText(query: CountQuery): Promise<{ counts: number[]; of: number }>;
  /** The messages around each of some, on their own branches; those themselves included. */
  neighbours(agent: string, seqs: number[], radius: number): Promise<PlacedEntry[]>;
  /** Memories whose text matches, best first. The scopes are part of the question to the database. */
  matchMemories(query: MemoryTextQuery): Promise<MemoryTextMatch[]>;
  /** Memories that may share nearly all of some words: every one that does, and few others, the newest first. */
  matchNearDuplicates(query: NearDuplicateQuery): Promise<MemoryTextMatch[]>;
  /** How many memories hold each word, counted up to a number, of how many. */
  countMemoryWords(words: readonly string[], countMax: number): Promise<{ counts: number[]; of: number }>;
  /** Takes a backup while others read and write; returns the file it wrote. */
  backup(file: string): Promise<BackupResult>;
  /** Writes every table as compressed JSON lines, which either engine can restore. */
  dump(file: string): Promise<BackupResult>;
  /** Looks for damage the engine itself can see; an empty list is health. */
  checkIntegrity(): Promise<string[]>;
  /** Throws away the text index and builds it anew from the log. */
  rebuildText(wordsOf: (rows: LogRow[]) => Promise<string[]>): Promise<{ entries: number }>;
  size(): Promise<{ bytes: number }>;
  close(): Promise<void>;
}

export interface TransactionOptions {
  /**
   * Whether it is on disk when it returns; on when absent. Off is for what may be lost with the power, though never with
   * the process, because it is found or made again: leases, counters, copies of what is durable elsewhere.
   */
  sync?: boolean;
}

export interface StoreTransaction {
  readonly db: Tx;
  readonly clock: Clock;
  readonly random: Random;
  append(batch: AppendBatch): Promise<AppendResult>;
  /** Waits until no other transaction holds this name; held until this one ends. Take it before touching rows. */
  lock(name: string): Promise<void>;
  /** A new number for a row: conversations and transcripts are numbered by the store. */
  nextNumber(counter: "conversation_id" | "transcript_id" | "memory_number"): Promise<number>;
  /** Removes the text of entries from the index. */
  removeText(agent: string, seqs: number[]): Promise<void>;
  /** Writes a memory inside this transaction. */
  insertMemory(memory: NewMemoryRows): Promise<void>;
  /** Puts the words of a memory into its index, in the place of those before. */
  indexMemory(row: MemoryWords): Promise<void>;
  removeMemoryText(nums: number[]): Promise<void>;
}

/** The rows of each query. */
export type BatchRows<Queries extends readonly Compilable[]> = {
  [Index in keyof Queries]: Queries[Index] extends Compilable<infer Row> ? Row[] : never;
};

/** What each query returned, and how many rows a query that returns none has changed. */
export type BatchResults<Queries extends readonly Compilable[]> = {
  [Index in keyof Queries]: { rows: BatchRows<Queries>[Index]; changes: number };
};

/** A memory before it has its number. */
export interface NewMemoryRows {
  row: Omit<MemoryTable, "num">;
  sources: readonly MemorySourceTable[];
  support: readonly MemorySupportTable[];
  words: string;
  vector?: { space: number; vector: Uint8Array };
}

export interface MemoryWords {
  scope: string;
  num: number;
  words: string;
}

export interface MemoryTextQuery {
  /** All of them when absent; nothing is found in an empty list. */
  scopes?: readonly string[];
  /** Words as they were prepared for the index; one matching word is enough. */
  words: string[];
  /** Words that have to be there together; one such group is enough. In place of `words`, and the newest first. */
  together?: readonly (readonly string[])[];
  /** Of more matches than this, an engine may rank only the newest so many. */
  rankedMax?: number;
  /** What was believed at this time; also what is believed no longer when absent. */
  validAt?: number;
  category?: string;
  limit: number;
}

/** Memories of a scope that are believed now, and whose words may be as near to these as a cosine. */
export interface NearDuplicateQuery {
  scope: string;
  words: readonly string[];
  cosine: number;
  /** Also among memories that share nothing but common words with many others, which takes longer. */
  thorough?: boolean;
}

export interface MemoryTextMatch {
  id: string;
  abstract: string;
  score: number;
}

/** An entry ready to be written. */
export interface EntryRow {
  id: string;
  /** Absent: the head. Null: a new root. */
  parentId?: string | null;
  kind: string;
  time: number;
  tokens: number;
  payload: string;
  /** What the text index holds for it; empty for entries that are not searched. */
  words: string;
  countsAsMessage: boolean;
  /** What was too large for the row, stored once by its content. */
  files?: FileRow[];
}

/** Content beside an entry. `content` is its JSON string, so that it may hold any character. */
export interface FileRow {
  id: string;
  name: string | null;
  mediaType: string | null;
  kind: string;
  summary: string;
  bytes: number;
  lines: number;
  tokens: number;
  content: string;
}

export interface AppendBatch {
  agent: string;
  conversation: number;
  transcript: number;
  now: number;
  entries: EntryRow[];
  /** When a person spoke last, where this batch brings it: an import's own past, for example. */
  interactionAt?: number;
  /** Background work that this batch causes, written with it. */
  jobs?: NewJob[];
  /** As of a transaction: off for what is durable elsewhere. */
  sync?: boolean;
  /** Names the batch: of two under one name in a conversation the second changes nothing and returns what the first did. */
  idempotencyKey?: string;
  /** Statements that are written with the batch. */
  attached?: AttachedStatement[];
}

export interface AttachedStatement {
  sql: string;
  parameters: readonly unknown[];
  /** Whether nothing of the batch is written, and `REFUSED` thrown, when it changes no row. */
  mustChange?: boolean;
}

export interface AppendedEntry {
  id: string;
  seq: number;
  /** `orphan`: stored, but its parent is unknown, so it continues from the head. */
  status: "appended" | "duplicate" | "orphan";
}

export interface AppendResult {
  entries: AppendedEntry[];
  appended: number;
  duplicates: number;
  /** It was written before, under the same name. */
  repeated?: true;
}

export interface NewJob {
  agent: string;
  id: string;
  kind: string;
  key: string;
  payload: string;
  runAt: number;
}

/** A row of the log, as much of it as its words are made from. */
export interface LogRow {
  agent: string;
  kind: string;
  payload: string;
}

export interface TextQuery {
  agent: string;
  /** Only these; all of the agent's when neither this nor `spans` is given. */
  conversations?: readonly number[];
  /** Parts of several conversations, such as a fork and what it was forked from. */
  spans?: ConversationSpan[];
  /** The best first, or the newest; the best when absent. */
  order?: "rank" | "recency";
  /** Words as they were prepared for the index. */
  words: string[];
  /** Whether one matching word is enough; all must match when absent. */
  any?: boolean;
  /** Phrases that must be there, and words that must not. */
  required?: string[];
  excluded?: string[];
  /** The beginning of a word that is still being typed; it counts like one of `words`. */
  prefix?: string;
  since?: number;
  before?: number;
  /** How telling each of `words` is; an engine without ranks of its own orders by it. */
  weights?: number[];
  /** Of more matches than this, an engine may rank only the newest so many. */
  rankedMax?: number;
  limit: number;
}

export interface CountQuery {
  agent: string;
  /** Where to count; everywhere when absent. An engine may count in a wider stretch of the log around it. */
  conversations?: readonly number[];
  words: string[];
  /** Counting stops here: what is in more is common. */
  countMax: number;
}

/** The entries of a conversation up to one of them. */
export interface ConversationSpan {
  conversation: number;
  upTo?: number;
}

/** Where an entry stands, without what it says. */
export interface PlacedEntry {
  seq: number;
  conversation: number;
  branch: number;
  kind: string;
  time: number;
  tokens: number;
}

export interface TextMatch {
  seq: number;
  score: number;
}

export interface BackupResult {
  file: string;
  bytes: number;
}

/** Sees every call on its way to the engine; what it throws is what the call throws. For fault injection. */
export interface StoreTap {
  before?(call: StoreCall): void;
  after?(call: StoreCall): void;
}

export type StoreCall = "begin" | "commit" | "rollback" | "read" | "write" | "append";

export interface OpenStoreOptions {
  /** A file name or a `postgres://` address. */
  database: string;
  clock: Clock;
  random: Random;
  /** How long a write waits for other processes before it gives up. */
  busyTimeoutMs?: number;
  readers?: number;
  cacheMiB?: number;
  poolSize?: number;
  /** Where backups before a migration go; beside the database when absent. */
  backupFolder?: string;
  /** Open what is there and change nothing; for `doctor` on a database that must not be touched. */
  readOnly?: boolean;
  tap?: StoreTap;
}
