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
 * The tables, the same on every engine. Times are milliseconds since 1970; JSON is text, so that what is read is
 * byte for byte what was written. Every large table's key starts with the tenant, `agent`.
 */
export interface Schema {
  meta: MetaTable;
  conversations: ConversationTable;
  transcripts: TranscriptTable;
  branches: BranchTable;
  entries: EntryTable;
  sessions: SessionTable;
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
}

export type Db = Kysely<Schema>;
export type Tx = Transaction<Schema>;

export interface MetaTable {
  name: string;
  value: string;
}

/** The lossless record behind a session key: it outlives session ids. */
export interface ConversationTable {
  agent: string;
  id: number;
  key: string;
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
  cwd: string | null;
  title: string | null;
}

/** A branch continues its parent behind `fork_seq`; the parent may lie in another conversation (a fork points). */
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

/** What a session key points at now, and what is known of it. One row per agent and key. */
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
}

/** Something to tell a session at its next turn; belongs to one session id and dies with it. */
export interface NoticeTable {
  agent: string;
  key: string;
  id: string;
  session_id: string;
  time: number;
  text: string;
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

/** How far a file was imported. */
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
  /** Hash of the last record that was read, to tell a grown file from a rewritten one. */
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
  /** Rises with every new owner, so that a late writer of the old one can be told apart. */
  fence: number;
}

/** A node of the summary DAG, with the span of the log it stands for. */
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
  /** What the quality guard found. */
  quality: string;
  created_at: number;
}

/** What a summary was made from, in order: entries for a leaf, summaries for a condensed one. */
export interface SummarySourceTable {
  agent: string;
  conversation: number;
  summary: string;
  position: number;
  entry_seq: number | null;
  source: string | null;
}

/** The summaries that stand in a conversation's context, in order. */
export interface ContextItemTable {
  agent: string;
  conversation: number;
  position: number;
  summary: string;
}

/** How far the summaries reach; what comes behind is in the context message by message. */
export interface ContextStateTable {
  agent: string;
  conversation: number;
  covered_seq: number;
  /** Rises with every change, so that a plan made on an older state is told apart. */
  version: number;
  compacted_at: number;
  /** Tool results up to this entry stand in the context cut short. */
  pruned_seq: Generated<number>;
}

/** Content too large for a row, once by its hash. `content` is a JSON string, so that it may hold any character. */
export interface FileTable {
  agent: string;
  /** `file_` and 16 hex digits of a SHA-256 over the content. */
  id: string;
  name: string | null;
  media_type: string | null;
  kind: string;
  /** What the content is, in about 200 tokens. */
  summary: string;
  /** The same by a model, when one was asked, and which. It comes later, so the context does not change by it. */
  model_summary: string | null;
  model: string | null;
  bytes: number;
  lines: number;
  tokens: number;
  content: string;
  created_at: number;
}

/** Which entries hold a file. */
export interface FileRefTable {
  agent: string;
  conversation: number;
  seq: number;
  file: string;
}

/** A turn that was committed whole, by the caller's key. */
export interface TurnTable {
  agent: string;
  conversation: number;
  key: string;
  /** What the first call returned, as JSON. */
  result: string;
  created_at: number;
}

/** A message that was accepted: it is answered once, whatever becomes of the process that took it. */
export interface InboxTable {
  /** In the order of acceptance. */
  num: Generated<number>;
  agent: string;
  id: string;
  /** The channel's own name for it. */
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
  /** When whoever wrote it may be taken to have finished. */
  ready_at: number;
  /** What an attempt did before it was cut off, as JSON. */
  progress: string | null;
  lease_owner: string | null;
  lease_until: number | null;
  /** How the turn ended, as JSON. */
  result: string | null;
  accepted_at: number;
  updated_at: number;
}

/** What was asked of a model on one day. */
export interface ModelDayTable {
  /** `2026-11-16`, in UTC. */
  day: string;
  purpose: string;
  model: string;
  calls: number;
  input_tokens: number;
  output_tokens: number;
}

/** What a delegated reader may see, and what it has read. */
export interface GrantTable {
  agent: string;
  id: string;
  /** The session that gave it. */
  origin_key: string;
  /** The conversations it opens, as a JSON list. */
  conversations: string;
  token_cap: number;
  tokens_read: number;
  reads: number;
  state: string;
  expires_at: number;
  created_at: number;
  ended_at: number | null;
}

/** What is known of a model that is called: how often, how it fails, whether it is left alone for now. */
export interface ModelStateTable {
  /** What it is called for and which one it is: `summary anthropic/claude-haiku-4-5`. */
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

/** How many tokens a model's provider counted for what was estimated. */
export interface TokenRatioTable {
  model: string;
  estimated: number;
  reported: number;
  updated_at: number;
}

/** A model's vectors: provider, model and dimensions. Vectors of two spaces are never compared. */
export interface VectorSpaceTable {
  id: number;
  name: string;
  created_at: number;
}

/** The vector of an entry, as signed bytes; derived, and made anew when it is lost. */
export interface EntryVectorTable {
  agent: string;
  space: number;
  seq: number;
  conversation: number;
  time: number;
  vector: Uint8Array;
}

/** The states of an entry's telling tokens, for late interaction. */
export interface EntryTokensTable {
  agent: string;
  space: number;
  seq: number;
  conversation: number;
  states: Uint8Array;
}

/** The same for what is no entry: summaries and files. */
export interface DocumentVectorTable {
  agent: string;
  space: number;
  kind: string;
  id: string;
  conversation: number | null;
  vector: Uint8Array;
  states: Uint8Array;
}

/** How far the vectors of a space follow the log. */
export interface SearchStateTable {
  agent: string;
  space: number;
  entry_seq: number;
  entries: number;
  updated_at: number;
}

/** A file of the corpus as it was last read. */
export interface CorpusFileTable {
  agent: string;
  /** `memory` for the notes of the workspace, or the name of a folder. */
  corpus: string;
  /** As it is cited: the folder's name, except for notes, and the path below it. */
  path: string;
  hash: string;
  /** In microseconds: two versions within one millisecond are two. */
  mtime_us: number;
  size: number;
  /** What the file is about when its name is a date, else when it was changed. */
  time: number;
  read_at: number;
}

/** Some lines of a file. Its vector is in `document_vectors` under its hash. */
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

/** Counts the changes to an agent's corpus, so that what is kept in memory knows when it is old. */
export interface CorpusStateTable {
  agent: string;
  revision: number;
  updated_at: number;
}
