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
import type { EngineHost, Models } from "./engine/host.ts";
import { type ImportRequest, importInto } from "./engine/imports.ts";
import { type Search, searchOf } from "./engine/search.ts";
import { type Sessions, sessionsOf } from "./engine/sessions.ts";
import { backupFolder, type Status, statusOf } from "./engine/status.ts";
import { type Transcripts, transcriptsOf } from "./engine/transcripts.ts";
import { type WatchRequest, watchPaths } from "./engine/watch.ts";
import { openStore, type StoreTap } from "./store/index.ts";
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
  /** Sees every call to the store; for fault injection. */
  tap?: StoreTap;
}

/** Everything Varve does, behind one door. */
export interface Varve {
  readonly settings: LoadedConfig;
  readonly sessions: Sessions;
  readonly transcripts: Transcripts;
  readonly context: Context;
  readonly search: Search;
  import(paths: string[], request?: ImportRequest): Promise<ImportReport>;
  /** Imports again whenever one of the files changes, until the signal says stop. */
  watch(paths: string[], request: WatchRequest): Promise<void>;
  status(): Promise<Status>;
  doctor(options?: DoctorOptions): Promise<DoctorReport>;
  backup(file?: string, options?: BackupOptions): Promise<BackupInfo>;
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
  const store = await openStore({
    database: loaded.config.database,
    clock,
    random,
    ...loaded.config.store,
    backupFolder: backupFolder(loaded.home),
    tap: options.tap,
  });
  const host: EngineHost = { loaded, store, clock, random, models: options.models ?? {} };
  const { search, close: closeSearch } = searchOf(host);
  return {
    settings: loaded,
    sessions: sessionsOf(host),
    transcripts: transcriptsOf(host),
    context: contextOf(host),
    search,
    import: (paths, request) => importInto(host, paths, request),
    watch: (paths, request) => watchPaths(host, paths, request),
    status: () => statusOf(host, version, search),
    doctor: (doctorOptions) => examine(host, doctorOptions),
    backup: (file, backupOptions) => backupNow(host, file, backupOptions),
    async close() {
      await closeSearch();
      await store.close();
    },
  };
}

/** Puts a backup in place of the database; no engine may have it open. */
export function restoreBackup(options: OpenOptions, file: string): Promise<RestoreResult> {
  const overrides = options.database === undefined ? options.config : { ...options.config, database: options.database };
  const sources = { clock: options.clock ?? systemClock, random: options.random ?? systemRandom };
  return restoreInto(loadConfig({ home: options.home, overrides }), file, sources);
}

export type { AssembleOptions, CompactResult, ContextView, Expansion, TraceItem, TreeNode } from "./context/index.ts";
export type { CompactRequest, Context, ContextOverview } from "./engine/context.ts";
export type { Models } from "./engine/host.ts";
export type { ImportRequest } from "./engine/imports.ts";
export type { Search, SearchRequest } from "./engine/search.ts";
export type { Sessions } from "./engine/sessions.ts";
export type { Status } from "./engine/status.ts";
export type { ReadOptions, Transcripts } from "./engine/transcripts.ts";
export {
  type CatchUpResult,
  type Confidence,
  type Profile,
  profiles,
  type ResultKind,
  resultKinds,
  type SearchAnswer,
  type SearchResult,
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
export {
  type Cleaned,
  type CleanOptions,
  cleanForProvider,
  type ExportFormat,
  exportFormats,
  type HygieneChange,
  type HygieneProvider,
  type HygieneRule,
  type ImportProgress,
  type ImportReport,
  isSilentReply,
  type Page,
  type SilentReplyGate,
  silentReplyGate,
  sourceNames,
  textOfEntry,
} from "./transcript/index.ts";
export { version } from "./version.ts";
