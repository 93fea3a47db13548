import { type ConfigInput, type LoadedConfig, loadConfig } from "./config/index.ts";
import { type Clock, type Random, systemClock, systemRandom } from "./domain/index.ts";
import {
  type BackupInfo,
  type BackupOptions,
  backupNow,
  type RestoreResult,
  restoreBackup as restoreInto,
} from "./engine/backup.ts";
import { type Context, contextOf } from "./engine/context.ts";
import { type DoctorOptions, type DoctorReport, examine } from "./engine/doctor.ts";
import { EarlierEmbedders } from "./engine/earlier-embedders.ts";
import type { EngineEvent } from "./engine/events.ts";
import type { EngineHost } from "./engine/host.ts";
import { type ImportRequest, importInto } from "./engine/imports.ts";
import { type Memories, memoriesOf } from "./engine/memories.ts";
import { earlierVectors, vectorsBy } from "./engine/memory-vectors.ts";
import { modelNotesOf } from "./engine/model-notes.ts";
import { chainLimits, type Models, modelsOf } from "./engine/models.ts";
import { findNotes } from "./engine/notes.ts";
import { findPassages } from "./engine/passages.ts";
import { namedEmbedder, type OpenSearch, type Search, searchOf } from "./engine/search.ts";
import { type Sessions, sessionsOf } from "./engine/sessions.ts";
import { backupFolder, type Status, statusOf } from "./engine/status.ts";
import { type Transcripts, transcriptsOf } from "./engine/transcripts.ts";
import { type Turns, turnsOf } from "./engine/turns.ts";
import { type WatchRequest, watchPaths } from "./engine/watch.ts";
import { type Work, workOf } from "./engine/work.ts";
import { createAccessCounter, MemoryVectorCache, type MemoryVectors } from "./memory/index.ts";
import type { Embedder } from "./models/index.ts";
import { embeddedText } from "./search/index.ts";
import { openStore, type StoreTap } from "./store/index.ts";
import type { BoundTool, ToolOptions } from "./tools/index.ts";
import type { ImportReport } from "./transcript/index.ts";
import { version } from "./version.ts";

export interface OpenOptions {
  /** The folder everything lives in: `VARVE_HOME`, or `~/.varve`, when absent. */
  home?: string;
  /** An SQLite file or a `postgres://` address; above every other place it can be set. */
  database?: string;
  /** Settings, above those of the environment and the file. */
  config?: ConfigInput;
  clock?: Clock;
  random?: Random;
  models?: Models;
  /** What turns the texts of memories into vectors, in place of what the search uses. */
  memoryVectors?: MemoryVectors;
  /**
   * Whether work that turns leave behind, such as compaction, is done in the background of this process. On when absent;
   * off, it waits for another process or for `work.drain()`.
   */
  background?: boolean;
  /** A query that is about to be searched for: its vector is made while the database is opened. */
  willSearch?: string;
  /** Sees every call to the store; for fault injection. */
  tap?: StoreTap;
}

/** Uses of memories are counted together for so long before they are written. */
const accessDebounceMs = 2_000;

/** Everything Varve does, behind one door. */
export interface Varve {
  readonly settings: LoadedConfig;
  readonly sessions: Sessions;
  readonly transcripts: Transcripts;
  readonly context: Context;
  readonly search: Search;
  readonly memory: Memories;
  /** Messages in, replies out. */
  readonly turns: Turns;
  import(paths: string[], request?: ImportRequest): Promise<ImportReport>;
  /** Imports again whenever one of the files changes, until the signal says stop. */
  watch(paths: string[], request: WatchRequest): Promise<void>;
  status(): Promise<Status>;
  doctor(options?: DoctorOptions): Promise<DoctorReport>;
  backup(file?: string, options?: BackupOptions): Promise<BackupInfo>;
  /**
   * The tools for an agent, bound to where they are used: all of the memory, one session, or a grant. Each has a name, a
   * description, schemas, and `run`, which takes what a model sends.
   */
  tools(options?: ToolOptions): Promise<readonly BoundTool[]>;
  /** The background work of this process. */
  readonly work: Work;
  /** Calls the listener for what the engine does; the function it returns takes it off again. */
  onEvent(listener: (event: EngineEvent) => void): () => void;
  /** Ends what is under way and lets go of the database. Closing twice is closing once. */
  close(): Promise<void>;
}

/**
 * Opens the memory. The database is made, or brought up to date, when needed.
 *
 * @example
 * const varve = await openVarve();
 * const session = await varve.sessions.resolve({ channel: "telegram", peer: "5054873275" });
 * await varve.context.ingest(session, [{ id: "m1", role: "user", content: "My flight is on Friday at 7." }]);
 * await varve.close();
 */
export async function openVarve(options: OpenOptions = {}): Promise<Varve> {
  const overrides = options.database === undefined ? options.config : { ...options.config, database: options.database };
  const loaded = loadConfig({ home: options.home, overrides });
  const clock = options.clock ?? systemClock;
  const random = options.random ?? systemRandom;
  const own = options.models?.embedder ? undefined : namedEmbedder({ loaded, clock, random });
  if (options.willSearch !== undefined) prepare(options.models?.embedder ?? own, options.willSearch);
  const store = await openStore({
    database: loaded.config.database,
    clock,
    random,
    ...loaded.config.store,
    backupFolder: backupFolder(loaded.home),
    tap: options.tap,
  });
  const listeners = new Set<(event: EngineEvent) => void>();
  const accesses = createAccessCounter({ store, clock, random }, accessDebounceMs);
  const host: EngineHost = {
    loaded,
    accesses,
    store,
    clock,
    random,
    models: modelsOf({ loaded, store, clock, random }, options.models ?? {}),
    get modelNotes() {
      return modelNotes;
    },
    largeContentTokens: loaded.config.context.largeFileTokenThreshold,
    find: (request) => findPassages(host, search, request),
    notes: (request) => findNotes(host, search, request),
    emit: (event) => {
      for (const listener of listeners) listener(event);
    },
    workSoon: () => {
      if (options.background !== false) work.start();
    },
  };
  const modelNotes = modelNotesOf(store, clock, chainLimits(loaded.config));
  const earlier = new EarlierEmbedders(host, options.models?.earlierEmbedders);
  const { search, embedder, close: closeSearch } = await openSearch(host, own, earlier);
  const vectors = options.memoryVectors ?? (embedder && vectorsBy(embedder));
  if (vectors) host.memoryShelf = new MemoryVectorCache(host, vectors, earlierVectors(earlier));
  const work = workOf(host);
  let closing: Promise<void> | undefined;
  const sessions = sessionsOf(host);
  const context = contextOf(host);
  const memory = memoriesOf(host);
  const turns = turnsOf(host, {
    sessions,
    context,
    search,
    memory,
    tools: (session) => varve.tools({ session, agent: session.agent }),
    background: options.background !== false,
  });
  const varve: Varve = {
    settings: loaded,
    sessions,
    transcripts: transcriptsOf(host),
    context,
    search,
    memory,
    turns,
    import: (paths, request) => importInto(host, paths, request),
    watch: (paths, request) => watchPaths(host, paths, request),
    status: () => statusOf(host, version, search),
    doctor: (doctorOptions) => examine(host, doctorOptions),
    backup: (file, backupOptions) => backupNow(host, file, backupOptions),
    // Loaded when asked for: most programs, and the gateway until somebody comes to it by MCP, do without.
    tools: async (toolOptions) => (await import("./tools/index.ts")).openToolbox(varve, toolOptions).tools,
    work,
    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      closing ??= (async () => {
        await turns.stop();
        await modelNotes.flush();
        await work.stop();
        await closeSearch();
        try {
          await accesses.stop();
        } finally {
          await store.close();
        }
      })();
      return closing;
    },
  };
  return varve;
}

/** The model loads, and makes the vector of a query, while the database is opened. The search meets its failure. */
function prepare(embedder: Embedder | undefined, query: string): void {
  embedder?.embedQuery(embeddedText(query)).catch(() => undefined);
}

/** Settings that name no usable reranker are found out here; the store must not stay open behind that error. */
async function openSearch(host: EngineHost, own: Embedder | undefined, earlier: EarlierEmbedders): Promise<OpenSearch> {
  try {
    return searchOf(host, own, earlier);
  } catch (error) {
    await host.store.close();
    throw error;
  }
}

/** Puts a backup in place of the database; no engine may have it open. */
export function restoreBackup(options: OpenOptions, file: string): Promise<RestoreResult> {
  const overrides = options.database === undefined ? options.config : { ...options.config, database: options.database };
  const sources = { clock: options.clock ?? systemClock, random: options.random ?? systemRandom };
  return restoreInto(loadConfig({ home: options.home, overrides }), file, sources);
}

export type {
  CompactResult,
  ContextView,
  Description,
  Expansion,
  GrepMatch,
  GrepResult,
  SummaryPrefix,
  TraceItem,
  TreeNode,
} from "./context/index.ts";
export type { CommittedTurn } from "./engine/commit-turn.ts";
export type { CompactRequest, TurnFacts } from "./engine/compaction.ts";
export type { AssembleRequest, Context, ContextOverview } from "./engine/context.ts";
export type { EngineEvent } from "./engine/events.ts";
export type { Answer, QuestionRequest } from "./engine/expand-query.ts";
export type { ImportRequest } from "./engine/imports.ts";
export type { AskedBy, Forgotten, Memories, OpenedMemory } from "./engine/memories.ts";
export type { Models } from "./engine/models.ts";
export { ownCredential } from "./engine/provider-key.ts";
export type { Reach } from "./engine/reach.ts";
export type { DescribeRequest, ExpandRequest, GrepRequest, Recall } from "./engine/recall.ts";
export type { Search, SearchRequest } from "./engine/search.ts";
export type { Sessions } from "./engine/sessions.ts";
export type { Status } from "./engine/status.ts";
export type { ReadOptions, Transcripts } from "./engine/transcripts.ts";
export type { Turns } from "./engine/turns.ts";
export type { JobInfo, Work } from "./engine/work.ts";
export {
  type Category,
  categoryNames,
  type Memory,
  type MemoryStats,
  type MemoryVectors,
  type Review,
  wantsRecall,
} from "./memory/index.ts";
export type { Embedded, EmbeddedQuery, Embedder, EmbedText } from "./models/index.ts";
export { isContextOverflow } from "./models/index.ts";
export {
  type Confidence,
  type EmbedPendingResult,
  type Profile,
  type PruneResult,
  profiles,
  type ResultKind,
  resultKinds,
  type SearchAnswer,
  type SearchResult,
  type SyncResult,
} from "./search/index.ts";
export type {
  Address,
  Forked,
  Received,
  Resolved,
  ResolveOptions,
  Session,
  SessionPage,
  SessionPatch,
  TranscriptInfo,
} from "./session/index.ts";
export type { AppendedEntry, AppendResult, StoreCall, StoreTap } from "./store/index.ts";
export { estimateMessageTokens, estimateTokens } from "./tokens/index.ts";
export type { BoundTool, ToolAnnotations, ToolOptions, ToolResult } from "./tools/index.ts";
export {
  type CleanedMessages,
  type CleanOptions,
  cleanForProvider,
  createSilentReplyGate,
  type ExportFormat,
  exportFormats,
  getEntryText,
  type HygieneChange,
  type HygieneProvider,
  type HygieneRule,
  type ImportProgress,
  type ImportReport,
  isSilentReply,
  type Page,
  type SilentReplyGate,
  sourceNames,
} from "./transcript/index.ts";
export type { Accepted, Attachment, Inbound, MessageState, TurnEvent, TurnResult, TurnStatus } from "./turn/index.ts";
export { version } from "./version.ts";
