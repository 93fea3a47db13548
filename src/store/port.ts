import type { Compilable } from "kysely";
import type { Clock, Random } from "../domain/index.ts";
import type { MemorySourceTable, MemorySupportTable, MemoryTable } from "./memory-schema.ts";
import type { Db, Tx } from "./schema.ts";
import type { SealingKey } from "./seal/sealer.ts";

export type EngineName = "sqlite" | "postgres";

/**
 * The store port. Reads go through `db`, one statement each, and never block a write. Writes happen inside
 * `transaction`, which is short by contract: it never waits for a model, the network or a file. `append` is a complete
 * durable transaction in one call, because every message takes this path.
 */
export interface Store {
  readonly engine: EngineName;
  readonly db: Db;
  /** The time and randomness of everything that is written. */
  readonly clock: Clock;
  readonly random: Random;
  /** Encrypts a text for a statement whose columns are not known, when texts are encrypted. */
  seal(text: string): string;
  /** The id of the key that texts are encrypted with; absent when they are not. */
  readonly sealedWith?: string;
  /** How credentials are taken out of what is stored; absent when they stay. */
  readonly capture?: SecretCapture;
  /** Entries that other threads can read by themselves; absent on PostgreSQL, and when texts are encrypted. */
  readonly entryFile?: EntryFile;
  transaction<T>(work: (tx: StoreTransaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  append(batch: AppendBatch): Promise<AppendResult>;
  /**
   * Runs reads that may miss the changes of the last seconds, on a replica where one is configured and usable. Never for
   * reads that must see what the caller has just written.
   */
  readWithLag<T>(work: () => Promise<T>): Promise<T>;
  /** The server and what should be changed on it; absent for SQLite. */
  describeServer?(): Promise<ServerDescription>;
  /** The state of the replica; absent without one. */
  describeReplica?(): Promise<{ lagMs?: number; fault?: string }>;
  /** Runs independent reads in one round trip. */
  readBatch<const Queries extends readonly Compilable[]>(queries: Queries): Promise<BatchRows<Queries>>;
  /** Runs independent statements as one transaction, in one round trip. */
  writeBatch<const Queries extends readonly Compilable[]>(
    queries: Queries,
    options?: TransactionOptions & { /** A lock name, as in `StoreTransaction.lock`. */ lock?: string },
  ): Promise<BatchResults<Queries>>;
  /**
   * Writes a memory and its dependent rows durably, in one round trip. When `unless` finds near-duplicates, nothing is
   * written and they are returned.
   */
  insertMemory(memory: NewMemoryRows, unless?: NearDuplicateQuery): Promise<MemoryTextMatch[]>;
  /** Entries whose text matches, best or newest first. */
  matchText(query: TextQuery): Promise<TextMatches>;
  /** Counts the entries that contain each word; `of` is the total. */
  countText(query: CountQuery): Promise<{ counts: number[]; of: number }>;
  /** The messages within `radius` of each of `seqs` on the same branch, including `seqs` themselves. */
  neighbours(agent: string, seqs: number[], radius: number): Promise<PlacedEntry[]>;
  /** Memories whose text matches, best first. Scopes are filtered inside the database query. */
  matchMemories(query: MemoryTextQuery): Promise<MemoryTextMatch[]>;
  /** Candidate near-duplicates, newest first: every memory that shares nearly all of the words, and few others. */
  matchNearDuplicates(query: NearDuplicateQuery): Promise<MemoryTextMatch[]>;
  /** Counts the memories that contain each word, up to `countMax`; `of` is the total. */
  countMemoryWords(words: readonly string[], countMax: number): Promise<{ counts: number[]; of: number }>;
  /** Reads vectors of messages in one piece: as rows they would take longer to pass between threads than to read. */
  readVectors(query: VectorPageQuery): Promise<VectorPage>;
  /** Compares vectors inside the database; absent where the caller has to read and compare them. */
  readonly vectors?: DatabaseVectors;
  /** How the database stores vectors, and what would make searches by meaning faster. */
  describeVectors(): Promise<VectorStorage>;
  /** Takes a backup while others read and write. */
  backup(file: string): Promise<BackupResult>;
  /** Writes every table as compressed JSON lines, which either engine can restore. */
  dump(file: string): Promise<BackupResult>;
  /** Reports the damage that the engine itself can detect; an empty list means none. */
  checkIntegrity(): Promise<string[]>;
  /** Checks whether the database itself keeps tenants apart. */
  checkTenancy(): Promise<TenancyCheck>;
  /** Distributes the tables over the workers of a cluster; only on PostgreSQL. */
  distribute?(): Promise<Distribution>;
  /**
   * Encrypts every text with the current key, also what was written before there was one or with an earlier key; or
   * decrypts everything. Only a store whose texts are encrypted has it.
   */
  rewriteTexts?(options?: {
    decrypt?: boolean;
    onProgress?: (table: string, rows: number) => void;
  }): Promise<{ rows: number }>;
  /**
   * Prepares the database for reading after many rows were written at once, such as an import or a restore. Does nothing
   * where the engine needs none, or the role of the connection may not.
   */
  settleBulkLoad(): Promise<void>;
  /** Drops the text index and rebuilds it from the log. */
  rebuildText(extractWords: (rows: LogRow[]) => Promise<string[]>): Promise<{ entries: number }>;
  /**
   * Rewrites the files of the database, so that removed content is no longer in them. `complete` is false when another
   * connection kept an old part of them in use, or when the role of the connection may not rewrite the tables.
   */
  scrub(): Promise<{ complete: boolean }>;
  size(): Promise<{ bytes: number }>;
  close(): Promise<void>;
}

/** The file with the entries, for threads that read many of them: no row is copied from thread to thread. */
export interface EntryFile {
  /** The options of `openEntryReader`; they can be sent to a thread. */
  readonly address: EntryFileAddress;
  /**
   * Runs work whose threads open the file. Closing the store aborts the signal and waits for the work, because an open
   * connection would keep the write-ahead log.
   */
  use<T>(work: (closing: AbortSignal) => Promise<T>): Promise<T>;
}

export interface EntryFileAddress {
  file: string;
  busyTimeoutMs: number;
}

/** Which entries an `EntryReader` returns, and how much of them. */
export interface EntryFilter {
  agent: string;
  kinds: readonly string[];
  /** A longer payload is returned as null, so that the memory of a read is bounded. */
  payloadBytesMax: number;
}

/** Reads entries in the thread that opened it. Each read sees everything that was committed before it. */
export interface EntryReader {
  /** The entries with these sequence numbers, in the order of the numbers. */
  read(seqs: readonly number[]): FiledEntry[];
  close(): void;
}

export type FiledEntry = [seq: number, conversation: number, time: number, kind: string, payload: string | null];

/** Vectors that the database compares itself, by cosine. */
export interface DatabaseVectors {
  /**
   * The form of a vector in the column `embedding`. It is more precise than signed bytes, so the vectors of messages are made
   * of floats: among a million of them rounding decides which are nearest. Vectors of both kinds can be compared.
   */
  encode(vector: Float32Array | Int8Array): string;
  /** The entries nearest to a vector, best first; undefined while some vectors of the agent are stored as bytes only. */
  nearestEntries(query: NearestEntriesQuery): Promise<NearestEntry[] | undefined>;
  /** The same for memories; undefined while some of the space are stored as bytes only. */
  nearestMemories(query: NearestMemoriesQuery): Promise<{ memory: string; cosine: number }[] | undefined>;
  /**
   * Converts vectors that were stored as bytes only, page by page, and builds the indexes of agents with many vectors.
   * It can be interrupted and repeated, and several processes may call it. Searches go on meanwhile.
   */
  maintain(options?: VectorMaintenanceOptions): Promise<VectorMaintenance>;
}

export interface NearestEntriesQuery {
  agent: string;
  space: number;
  vector: Float32Array;
  /** All conversations of the agent when absent. */
  spans?: readonly ConversationSpan[];
  since?: number;
  before?: number;
  /** Only sequence numbers after `after` and up to `upTo`, in any of these. */
  ranges?: readonly { after: number; upTo: number }[];
  limit: number;
}

export interface NearestEntry {
  seq: number;
  cosine: number;
}

export interface NearestMemoriesQuery {
  /** All scopes when absent. */
  scopes?: readonly string[];
  space: number;
  vector: Float32Array;
  limit: number;
}

export interface VectorMaintenanceOptions {
  signal?: AbortSignal;
  onProgress?(converted: number): void;
}

export interface VectorMaintenance {
  /** How many vectors were converted by this call. */
  converted: number;
  /** Agents whose vectors got an index, and those that need one but the role of the connection may not create it. */
  indexed: string[];
  unindexed: string[];
}

/** A database server as its operator sees it. */
export interface ServerDescription {
  version: string;
  /** The versions of the extensions that matter here. */
  extensions: Record<string, string>;
  connections: { used: number; max: number };
  /** The mode of a pooler between this process and the server. */
  pooler: "none" | "session" | "transaction";
  /** The standbys that are connected; `sync` is `sync` or `quorum` for those that a commit waits for. */
  standbys: { name: string; state: string; sync: string; lagBytes?: number }[];
  /** Recommended changes, most important first. */
  advice: string[];
}

export interface VectorStorage {
  /** `memory`: each process loads the vectors that it searches. */
  storage: "memory" | "pgvector";
  /** The version of the extension; absent when it is not installed. */
  extension?: string;
  /** Whether vectors wait to be converted. */
  isConverting: boolean;
  /** Recommendations to make searches by meaning faster; empty when there are none. */
  advice: string[];
}

/** How the database keeps tenants apart. */
export interface TenancyCheck {
  /** The role of the connection; undefined for a database that has none. */
  role?: string;
  /** Reasons why row-level security does not protect the data; empty when it does, and for a database without it. */
  faults: string[];
}

/** Which tables were distributed now, and which were before. */
export interface Distribution {
  distributed: string[];
  already: string[];
}

export interface TransactionOptions {
  /**
   * Whether the commit waits until it is on disk (default true). A commit with `sync: false` survives a crash of the
   * process but not a power failure: for leases, counters and copies of data that is durable elsewhere.
   */
  sync?: boolean;
}

export interface StoreTransaction {
  readonly db: Tx;
  readonly clock: Clock;
  readonly random: Random;
  readonly capture?: SecretCapture;
  append(batch: AppendBatch): Promise<AppendResult>;
  /**
   * Waits until no other transaction holds this name, then holds it until the end of this one. Call it before touching
   * rows.
   */
  lock(name: string): Promise<void>;
  /** Allocates the next number of a counter. */
  nextNumber(counter: "conversation_id" | "transcript_id" | "memory_number"): Promise<number>;
  /** Removes entries from the text index. */
  removeText(agent: string, seqs: number[]): Promise<void>;
  insertMemory(memory: NewMemoryRows): Promise<void>;
  /** Indexes the words of a memory, replacing the previous ones. */
  indexMemory(row: MemoryWords): Promise<void>;
  removeMemoryText(nums: number[]): Promise<void>;
}

/** The rows of each query of a batch. */
export type BatchRows<Queries extends readonly Compilable[]> = {
  [Index in keyof Queries]: Queries[Index] extends Compilable<infer Row> ? Row[] : never;
};

/** The rows that each statement returned, and the number of rows it changed when it returns none. */
export type BatchResults<Queries extends readonly Compilable[]> = {
  [Index in keyof Queries]: { rows: BatchRows<Queries>[Index]; changes: number };
};

/** A memory that has no number yet. */
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
  /** Searches all scopes when absent, none when empty. */
  scopes?: readonly string[];
  /** Words prepared by `indexWords`; one matching word is enough. */
  words: string[];
  /**
   * Groups of words that must occur together; one matching group is enough. Replaces `words`, and sorts newest first.
   */
  together?: readonly (readonly string[])[];
  /** Above this number of matches an engine may rank only the newest ones. */
  rankedMax?: number;
  /** Only memories valid at this time; when absent, superseded ones too. */
  validAt?: number;
  category?: string;
  limit: number;
}

/** Finds currently valid memories of a scope whose words may reach a cosine with the given ones. */
export interface NearDuplicateQuery {
  scope: string;
  words: readonly string[];
  cosine: number;
  /** Also checks many memories that share only common words, which is slower. */
  thorough?: boolean;
  /** Also finds memories with this fact key, with a score of 1. */
  factKey?: string;
}

export interface MemoryTextMatch {
  id: string;
  abstract: string;
  score: number;
}

/** An entry ready to be written. */
export interface EntryRow {
  id: string;
  /** Absent: append to the head. Null: start a new root. */
  parentId?: string | null;
  kind: string;
  time: number;
  tokens: number;
  payload: string;
  /** The text to index; empty for entries that are not searched. */
  words: string;
  countsAsMessage: boolean;
  /** Large content extracted from the entry, stored once by content hash. */
  files?: FileRow[];
  /** Credentials that were taken out of the entry. */
  secrets?: SecretRow[];
}

/** A credential that was taken out of an entry. */
export interface SecretRow {
  id: string;
  kind: string;
  text: string;
}

/** The treatment of credentials in stored content: they are kept aside encrypted, or dropped. */
export interface SecretCapture {
  mode: "seal" | "drop";
  /** The id of a credential: the same for the same text, and of no use to guess it. */
  identify(text: string): string;
}

/** Large content of an entry. `content` is encoded as a JSON string, so that it can hold any character. */
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
  /** The time of the last message from a person, when this batch brings one (an import sets a past time). */
  interactionAt?: number;
  /** Background jobs written in the same transaction. */
  jobs?: NewJob[];
  /** See `TransactionOptions.sync`. */
  sync?: boolean;
  /** A batch whose key was already used in this conversation changes nothing and returns the first result. */
  idempotencyKey?: string;
  /** Statements executed in the same transaction. */
  attached?: AttachedStatement[];
}

export interface AttachedStatement {
  sql: string;
  parameters: readonly unknown[];
  /** When this statement changes no row, the whole batch is rolled back with `REFUSED`. */
  mustChange?: boolean;
}

export interface AppendedEntry {
  id: string;
  seq: number;
  /** `orphan`: stored, but its parent is unknown, so it was appended to the head. */
  status: "appended" | "duplicate" | "orphan";
}

export interface AppendResult {
  entries: AppendedEntry[];
  appended: number;
  duplicates: number;
  /** The batch was already written under the same idempotency key. */
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

/** The columns of a log row that its indexed words are computed from. */
export interface LogRow {
  agent: string;
  kind: string;
  payload: string;
}

export interface TextQuery {
  agent: string;
  /** Restricts the search to these conversations; absent together with `spans`, all conversations of the agent. */
  conversations?: readonly number[];
  /** Restricts the search to parts of conversations, such as a fork and the part of its origin before the fork. */
  spans?: ConversationSpan[];
  /** Default: `rank`. */
  order?: "rank" | "recency";
  /** Words prepared by `indexWords`. */
  words: string[];
  /** Whether one matching word is enough; by default all must match. */
  any?: boolean;
  /** Phrases that must occur, and words that must not. */
  required?: string[];
  excluded?: string[];
  /** The start of a word that is still being typed; treated like one of `words`. */
  prefix?: string;
  since?: number;
  before?: number;
  /** How informative each of `words` is; used for ordering by engines without BM25. */
  weights?: number[];
  /** Above this number of matches an engine may rank only the newest ones. */
  rankedMax?: number;
  limit: number;
}

export interface CountQuery {
  agent: string;
  /** Counts everywhere when absent. An engine may count over a larger range of the log that includes them. */
  conversations?: readonly number[];
  words: string[];
  /** Counting stops here: a more frequent word is simply common. */
  countMax: number;
}

/** The entries of a conversation, up to and including `upTo`. */
export interface ConversationSpan {
  conversation: number;
  upTo?: number;
}

/** The position of an entry, without its content. */
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

export interface TextMatches {
  hits: TextMatch[];
  /** How many matches were ranked, when there were too many and only the newest were; absent when all were. */
  newestRanked?: number;
}

export interface BackupResult {
  file: string;
  bytes: number;
}

/**
 * Observes every call before and after it reaches the engine; an error thrown here becomes the error of the call. For
 * fault injection.
 */
export interface StoreTap {
  before?(call: StoreCall): void;
  after?(call: StoreCall): void;
}

export type StoreCall = "begin" | "commit" | "rollback" | "read" | "write" | "append";

/** Vectors of an agent's messages with the numbers after `after`, up to and including `upTo`, the newest first. */
export interface VectorPageQuery {
  agent: string;
  space: number;
  /** All conversations of the agent when absent. */
  conversation?: number;
  after: number;
  upTo: number;
  /** Vectors of another length are left out. */
  dimensions: number;
  limit: number;
}

/** The rows of a page, each at the same place of all lists. */
export interface VectorPage {
  seqs: Float64Array<ArrayBuffer>;
  conversations: Float64Array<ArrayBuffer>;
  times: Float64Array<ArrayBuffer>;
  /** Signed bytes, one vector after the other. */
  vectors: Int8Array<ArrayBuffer>;
}

export interface OpenStoreOptions {
  /** A file name or a `postgres://` URL, which may name several hosts. */
  database: string;
  clock: Clock;
  random: Random;
  /** How long a write waits for other processes before it fails with `STORE_BUSY`. */
  busyTimeoutMs?: number;
  readers?: number;
  /** Whether the store is opened for one short operation: SQLite then reads and writes in one thread, which starts sooner. */
  isShortLived?: boolean;
  cacheMiB?: number;
  poolSize?: number;
  /**
   * Whether statements on PostgreSQL are named, so that the server plans each once for a connection. `auto`: unless there
   * is a pooler between.
   */
  preparedStatements?: "auto" | "on" | "off";
  /** The limit for opening a connection to PostgreSQL, unless the address has `connect_timeout`; 0 for none. */
  connectTimeoutMs?: number;
  /** The limit for one statement on PostgreSQL, 0 for none. Migrations, dumps and index builds have no limit. */
  statementTimeoutMs?: number;
  /** How long an unused connection to PostgreSQL is kept. */
  idleTimeoutMs?: number;
  /** How long PostgreSQL may take to answer before it is asked, by a new connection, whether it is alive; 0 never asks. */
  silenceMs?: number;
  /** The address of a replica for reads that tolerate lag. */
  replica?: string;
  /** How long a call waits for PostgreSQL to come back, after it has been reached once. */
  reconnectMs?: number;
  /** Where backups before a migration are written; next to the database when absent. */
  backupFolder?: string;
  /** Opens an existing database and changes nothing; for `doctor` on a database that must not be touched. */
  readOnly?: boolean;
  tap?: StoreTap;
  /** The treatment of credentials in stored content; they stay when absent. `seal` needs `keys`. */
  captureSecrets?: "seal" | "drop";
  /** The keys that encrypt texts, the current one first; texts are plain when absent. */
  keys?: readonly [SealingKey, ...SealingKey[]];
}
