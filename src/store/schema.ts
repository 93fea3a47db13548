import type { Generated, Kysely, Transaction } from "kysely";
import type {
  MemoryAccessTable,
  MemoryCursorTable,
  MemoryFileTable,
  MemoryRecallTable,
  MemoryRelationTable,
  MemoryReviewTable,
  MemorySourceTable,
  MemorySpendTable,
  MemorySupportTable,
  MemoryTable,
  MemoryVectorTable,
} from "./memory-schema.ts";

/**
 * The tables, identical on every engine. Times are milliseconds since 1970. JSON is stored as text, so that it is read
 * back byte for byte. The key of every large table starts with the tenant, `agent`.
 */
export interface Schema {
  meta: MetaTable;
  conversations: ConversationTable;
  transcripts: TranscriptTable;
  branches: BranchTable;
  entries: EntryTable;
  sessions: SessionTable;
  owners: OwnerTable;
  notices: NoticeTable;
  cron_runs: CronRunTable;
  checkpoints: CheckpointTable;
  import_files: ImportFileTable;
  quarantine: QuarantineTable;
  jobs: JobTable;
  leases: LeaseTable;
  summaries: SummaryTable;
  summary_sources: SummarySourceTable;
  context_items: ContextItemTable;
  context_states: ContextStateTable;
  files: FileTable;
  file_refs: FileRefTable;
  secrets: SecretTable;
  turns: TurnTable;
  inbox: InboxTable;
  model_days: ModelDayTable;
  grants: GrantTable;
  model_states: ModelStateTable;
  token_ratios: TokenRatioTable;
  vector_spaces: VectorSpaceTable;
  entry_vectors: EntryVectorTable;
  entry_tokens: EntryTokensTable;
  document_vectors: DocumentVectorTable;
  search_states: SearchStateTable;
  memories: MemoryTable;
  memory_sources: MemorySourceTable;
  memory_relations: MemoryRelationTable;
  memory_support: MemorySupportTable;
  memory_vectors: MemoryVectorTable;
  memory_reviews: MemoryReviewTable;
  memory_cursors: MemoryCursorTable;
  memory_recalls: MemoryRecallTable;
  memory_files: MemoryFileTable;
  memory_accesses: MemoryAccessTable;
  memory_spend: MemorySpendTable;
  corpus_files: CorpusFileTable;
  corpus_chunks: CorpusChunkTable;
  corpus_states: CorpusStateTable;
  tokens: AccessTokenTable;
  audit: AuditTable;
  audit_links: AuditLinkTable;
}

export type Db = Kysely<Schema>;
export type Tx = Transaction<Schema>;

/** A credential that was taken out of an entry; `text` is always encrypted. */
export interface SecretTable {
  agent: string;
  id: string;
  kind: string;
  text: string;
  created_at: number;
}

export interface MetaTable {
  name: string;
  value: string;
}

/** The lossless record of a session key; it outlives session ids. */
export interface ConversationTable {
  agent: string;
  id: number;
  key: string;
  /** Whom it belongs to, `user:…`, `group:…` or `session:…`; null for the owner's. */
  audience: string | null;
  created_at: number;
  updated_at: number;
  archived_at: number | null;
  /** The branch and entry the next append continues from; null while empty. */
  head_branch: number | null;
  head_seq: number | null;
  branch_count: number;
  entry_count: number;
  message_count: number;
  tokens: number;
}

/** One session id of a conversation. */
export interface TranscriptTable {
  agent: string;
  id: number;
  session_id: string;
  conversation: number;
  started_at: number;
  ended_at: number | null;
  first_seq: number | null;
  last_seq: number | null;
  parent_session: string | null;
  /** For the first session of a fork: the boundary of the session it was forked from. */
  inherited_begin_seq: number | null;
  cwd: string | null;
  title: string | null;
}

/**
 * A branch continues its parent after `fork_seq`. The parent may be in another conversation: a fork refers to it
 * instead of copying.
 */
export interface BranchTable {
  agent: string;
  conversation: number;
  branch: number;
  parent_conversation: number | null;
  parent_branch: number | null;
  fork_seq: number | null;
  tip_seq: number | null;
}

/** The log: the only copy of a message. `kind` is the role of a message, and the entry's type for everything else. */
export interface EntryTable {
  seq: number;
  agent: string;
  conversation: number;
  branch: number;
  transcript: number;
  id: string;
  kind: string;
  time: number;
  tokens: number;
  payload: string;
}

/** The current state of a session key. One row per agent and key. */
export interface SessionTable {
  agent: string;
  key: string;
  session_id: string;
  conversation: number;
  session_started_at: number;
  last_interaction_at: number;
  updated_at: number;
  created_at: number;
  chat_type: string;
  channel: string | null;
  subject: string | null;
  room: string | null;
  space: string | null;
  display_name: string | null;
  thinking_level: string | null;
  verbose_level: string | null;
  reasoning_level: string | null;
  elevated_level: string | null;
  send_policy: string | null;
  provider_override: string | null;
  model_override: string | null;
  auth_profile_override: string | null;
  input_tokens: number;
  output_tokens: number;
  total_tokens: number;
  context_tokens: number;
  message_count: number;
  compaction_count: number;
  memory_flush_at: number | null;
  memory_flush_compaction_count: number | null;
  origin: string | null;
  metadata: string;
  /** For a sub-agent: the key of the session that started it. */
  parent_key: string | null;
  /** The audience of its conversation. */
  audience: string | null;
  /** The way by which it came in: `owner`, `library`, `channel`, `http` or `proxy`; null before that was noted. */
  door: string | null;
}

/** An id of the owner in a channel, in addition to those of the settings. */
export interface OwnerTable {
  agent: string;
  channel: string;
  peer: string;
  added_by: string;
  added_at: number;
}

/** A message for the next turn of one session id; deleted with it. */
export interface NoticeTable {
  agent: string;
  key: string;
  id: string;
  session_id: string;
  time: number;
  text: string;
  /** `model`: it enters the context of the next turn. `user`: the person gets it with the next reply. */
  audience: Generated<string>;
}

export interface CronRunTable {
  agent: string;
  job_id: string;
  run_id: string;
  time: number;
  bytes: number;
  log: string;
}

export interface CheckpointTable {
  agent: string;
  conversation: number;
  name: string;
  time: number;
  head_branch: number | null;
  head_seq: number | null;
  data: string;
}

/** The import progress of a file. */
export interface ImportFileTable {
  agent: string;
  path: string;
  source: string;
  size: number;
  mtime: number;
  /** Bytes read and stored. */
  position: number;
  records: number;
  messages: number;
  /** Hash of the last record read; distinguishes a file that grew from one that was rewritten. */
  last_hash: string;
  last_start: number;
  state: string | null;
  updated_at: number;
}

export interface QuarantineTable {
  agent: string;
  id: string;
  path: string;
  record: number;
  reason: string;
  raw: string;
  time: number;
}

export interface JobTable {
  agent: string;
  id: string;
  kind: string;
  /** Two jobs of a kind with the same key are one job. */
  key: string;
  payload: string;
  state: string;
  attempts: number;
  run_at: number;
  lease_owner: string | null;
  lease_until: number | null;
  last_error: string | null;
  created_at: number;
  updated_at: number;
}

export interface LeaseTable {
  name: string;
  owner: string;
  until: number;
  /** Incremented with every new owner, so that a late write of the previous owner can be rejected. */
  fence: number;
}

/** A node of the summary DAG, with the span of the log it summarises. */
export interface SummaryTable {
  agent: string;
  conversation: number;
  id: string;
  kind: string;
  depth: number;
  content: string;
  tokens: number;
  earliest_at: number;
  latest_at: number;
  descendant_count: number;
  descendant_tokens: number;
  source_message_tokens: number;
  source_message_count: number;
  first_seq: number;
  last_seq: number;
  file_ids: string;
  model: string | null;
  prompt_version: number;
  level: string;
  /** The findings of the quality guard. */
  quality: string;
  created_at: number;
}

/** The sources of a summary, in order: entries for a leaf, summaries for a condensed one. */
export interface SummarySourceTable {
  agent: string;
  conversation: number;
  summary: string;
  position: number;
  entry_seq: number | null;
  source: string | null;
}

/** The summaries in a conversation's context, in order. */
export interface ContextItemTable {
  agent: string;
  conversation: number;
  position: number;
  summary: string;
}

/** How far the summaries reach; later entries are in the context message by message. */
export interface ContextStateTable {
  agent: string;
  conversation: number;
  covered_seq: number;
  /** Incremented with every change, so that a plan based on an older state is rejected. */
  version: number;
  compacted_at: number;
  /** Tool results up to this entry are truncated in the context. */
  pruned_seq: Generated<number>;
}

/**
 * Content too large for a row, stored once by its hash. `content` is a JSON string, so that it can hold any character.
 */
export interface FileTable {
  agent: string;
  /** `file_` and 16 hex digits of the SHA-256 of the content. */
  id: string;
  name: string | null;
  media_type: string | null;
  kind: string;
  /** A description of the content in about 200 tokens. */
  summary: string;
  /** A description by a model, and that model. Written later and never used in the context, which must stay stable. */
  model_summary: string | null;
  model: string | null;
  bytes: number;
  lines: number;
  tokens: number;
  content: string;
  created_at: number;
}

/** Which entries reference a file. */
export interface FileRefTable {
  agent: string;
  conversation: number;
  seq: number;
  file: string;
}

/** A turn that was committed atomically, by the caller's idempotency key. */
export interface TurnTable {
  agent: string;
  conversation: number;
  key: string;
  /** The result of the first call, as JSON. */
  result: string;
  created_at: number;
}

/** An accepted message. It is answered exactly once, even if the process that accepted it dies. */
export interface InboxTable {
  /** The order of acceptance. */
  num: Generated<number>;
  agent: string;
  id: string;
  /** The id that the channel gave it. */
  source: string;
  key: string;
  sender: string;
  /** The message as JSON; empty once it is answered, because the transcript has it. */
  payload: string;
  /** `waiting`, `running` or `done` */
  state: string;
  /** The turn that answers it; several messages may share one. */
  turn: string | null;
  attempts: number;
  /** When the sender is presumed to have finished typing. */
  ready_at: number;
  /** The progress of an interrupted attempt, as JSON. */
  progress: string | null;
  lease_owner: string | null;
  lease_until: number | null;
  /** The outcome of the turn, as JSON. */
  result: string | null;
  accepted_at: number;
  updated_at: number;
}

/** Model usage of one day. */
export interface ModelDayTable {
  /** `2026-11-16`, in UTC. */
  day: string;
  purpose: string;
  model: string;
  calls: number;
  input_tokens: number;
  output_tokens: number;
  /** Input tokens of stable prefixes, which a provider's cache can hold, and those that it read from its cache. */
  cacheable_tokens: Generated<number>;
  cached_tokens: Generated<number>;
}

/** The rights of a delegated reader, and what it has read so far. */
export interface GrantTable {
  agent: string;
  id: string;
  /** The session that issued it. */
  origin_key: string;
  /** The conversations it gives access to, as a JSON list. */
  conversations: string;
  token_cap: number;
  tokens_read: number;
  reads: number;
  state: string;
  expires_at: number;
  created_at: number;
  ended_at: number | null;
}

/** Call statistics, failures and the circuit breaker of a model. */
export interface ModelStateTable {
  /** Purpose and model: `summary anthropic/claude-haiku-4-5`. */
  name: string;
  calls: number;
  failures: number;
  input_tokens: number;
  output_tokens: number;
  auth_failures: number;
  window_started_at: number;
  window_calls: number;
  paused_until: number;
  paused_because: string | null;
  last_error: string | null;
  last_error_at: number | null;
  last_ok_at: number | null;
}

/** Estimated and provider-reported tokens of a model, for calibration. */
export interface TokenRatioTable {
  model: string;
  estimated: number;
  reported: number;
  updated_at: number;
}

/** An embedding space: provider, model and dimensions. Vectors of different spaces are never compared. */
export interface VectorSpaceTable {
  id: number;
  name: string;
  created_at: number;
}

/** The embedding of an entry, as signed bytes; derived, so it can be rebuilt. */
export interface EntryVectorTable {
  agent: string;
  space: number;
  seq: number;
  conversation: number;
  time: number;
  vector: Uint8Array;
  /**
   * The same vector as pgvector's `halfvec`, not rounded to bytes unless it was converted from them; only on PostgreSQL with
   * pgvector, and null until it is converted.
   */
  embedding?: string | null;
}

/** Token states of an entry, for late interaction reranking. */
export interface EntryTokensTable {
  agent: string;
  space: number;
  seq: number;
  conversation: number;
  states: Uint8Array;
}

/** The same for summaries, files and chunks. */
export interface DocumentVectorTable {
  agent: string;
  space: number;
  kind: string;
  id: string;
  conversation: number | null;
  vector: Uint8Array;
  states: Uint8Array;
}

/** Embedding coverage: how far the vectors of a space follow the log. */
export interface SearchStateTable {
  agent: string;
  space: number;
  entry_seq: number;
  entries: number;
  updated_at: number;
  /** Ranges of sequence numbers up to `entry_seq` that have no vector yet, as JSON. */
  gaps: Generated<string>;
}

/** A file of the corpus, as last read. */
export interface CorpusFileTable {
  agent: string;
  /** `memory` for the notes of the workspace, or the name of a folder. */
  corpus: string;
  /** The cited path: relative to the workspace for notes, else the folder's name and the path below it. */
  path: string;
  hash: string;
  /** In microseconds, to distinguish two versions within one millisecond. */
  mtime_us: number;
  size: number;
  /** The date in the file name when it has one, else the modification time. */
  time: number;
  read_at: number;
}

/** A range of lines of a file. Its vector is in `document_vectors` under its hash. */
export interface CorpusChunkTable {
  agent: string;
  path: string;
  start_line: number;
  end_line: number;
  part: number;
  corpus: string;
  hash: string;
  heading: string;
  text: string;
  tokens: number;
  time: number;
}

/** Counts changes to an agent's corpus, so that caches notice them. */
export interface CorpusStateTable {
  agent: string;
  revision: number;
  updated_at: number;
}

/** An access token of the gateway, known by the hash of its secret. */
export interface AccessTokenTable {
  id: string;
  name: string;
  /** SHA-256 of the secret, in hex. */
  hash: string;
  agent: string | null;
  /** A JSON list; null for the scopes that the settings open. */
  scopes: string | null;
  /** A JSON list of `read`, `write` and `admin`. */
  rights: string;
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
  /** When it stops to be accepted; in the future during the grace period of a rotation. */
  revoked_at: number | null;
  rotated_from: string | null;
}

/** A record of the audit log. */
export interface AuditTable {
  /** 1, 2, 3, … without gaps. */
  num: number;
  time: number;
  process: string;
  principal: string;
  action: string;
  /** The ids of the objects, as JSON. */
  targets: string;
  status: string;
  /** A hash of the previous row's hash and of this row. */
  hash: string;
}

/** Noted links of the audit log: its head, and the last record that retention removed. */
export interface AuditLinkTable {
  name: string;
  num: number;
  hash: string;
}
