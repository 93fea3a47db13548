import { join } from "node:path";
import { type AccessTokenService, createAccessTokenService } from "./access/index.ts";
import { type AuditLog, createAuditLog } from "./audit/index.ts";
import { runAsEngine } from "./authorization/index.ts";
import { backupFolder, type Config, type ConfigInput, type LoadedConfig, loadConfig } from "./config/index.ts";
import {
  type ContextService,
  createContextService,
  createGrantService,
  createParentViewReader,
  type GrantService,
  type Summarisers,
} from "./context/index.ts";
import { type Clock, type EngineEvent, type Random, systemClock, systemRandom, VarveError } from "./domain/index.ts";
import { createHooks, type HookOptions, type HookService } from "./hooks.ts";
import { importEverything } from "./import-everything.ts";
import { createJobService, type JobService } from "./jobs/index.ts";
import {
  applyRetention,
  type BackupFile,
  type BackupInfo,
  type BackupOptions,
  type ChangeFeed,
  checkDatabase,
  createChangeFeed,
  type DatabaseCheck,
  type DoctorOptions,
  type DoctorReport,
  distributeDatabase,
  type ForgetPersonOptions,
  type ForgetPersonReport,
  forgetPerson,
  listBackups,
  type RestoreResult,
  type RetentionReport,
  type RewriteOptions,
  readStatus,
  restoreBackup as restoreInto,
  rewriteDatabase,
  runDoctor,
  type Status,
  takeBackup,
} from "./maintenance/index.ts";
import { createMemoryService, type MemoryIndex, type MemoryService } from "./memory/index.ts";
import {
  createChainLimits,
  createEmbedder,
  createModels,
  createUsageRecorder,
  type Embedder,
  type Models,
  PreviousEmbedders,
} from "./models/index.ts";
import { createSearchService, type SearchIndex, type SearchService, selectEmbeddedText } from "./search/index.ts";
import {
  createSessionService,
  type ImportRequest,
  importHostTranscript,
  type SessionService,
  type WatchRequest,
  watchTranscripts,
} from "./session/index.ts";
import { type Distribution, loadKeys, openStore, type Store, type StoreTap } from "./store/index.ts";
import type { BoundTool, ToolOptions } from "./tools/index.ts";
import {
  createSecretService,
  createTranscriptService,
  type HostTranscript,
  type ImportReport,
  type SecretService,
  type TranscriptService,
} from "./transcript/index.ts";
import { createTurnService, type TurnService } from "./turn/index.ts";
import { packageFolder, version } from "./version.ts";

export interface OpenOptions {
  /** The folder of all data: `VARVE_HOME`, or `~/.varve`, when absent. */
  home?: string;
  /** An SQLite file or a `postgres://` address; overrides the settings. */
  database?: string;
  /** Settings; they override the environment and the file. */
  config?: ConfigInput;
  clock?: Clock;
  random?: Random;
  models?: Models;
  /** Functions that write summaries, by id. The setting `context.summariser` names the one that is used. */
  summarisers?: Summarisers;
  /** The time limit of the handlers that are added with `varve.hooks.on`. */
  hooks?: HookOptions;
  /**
   * Whether background jobs, such as compaction, run in this process; true when absent. Without it they wait for another
   * process or for `jobs.drain()`.
   */
  background?: boolean;
  /** A query that is about to be searched: it is embedded while the database is opened. */
  willSearch?: string;
  /** Observes every call to the store; for fault injection. */
  tap?: StoreTap;
}

/** The façade of the engine. */
export interface Varve {
  readonly settings: LoadedConfig;
  readonly sessions: SessionService;
  readonly transcripts: TranscriptService;
  readonly context: ContextService;
  readonly search: SearchService;
  readonly memory: MemoryService;
  readonly turns: TurnService;
  /** What sub-agents of a host may read. */
  readonly grants: GrantService;
  /** The access tokens of the gateway that are kept in the database. */
  readonly accessTokens: AccessTokenService;
  /** Who read or changed what through the gateway and the command line. */
  readonly audit: AuditLog;
  /** Functions of the program that are called before a reset, before a compaction and after a turn. */
  readonly hooks: HookService;
  import(paths: string[], request?: ImportRequest): Promise<ImportReport>;
  /**
   * Imports what was added to a transcript of a running host since the last import. With `isAtomic`, all of it or
   * nothing is stored.
   */
  importHostTranscript(
    transcript: HostTranscript,
    options?: { isAtomic?: boolean; signal?: AbortSignal },
  ): Promise<ImportReport>;
  /** Imports again whenever one of the files changes, until the signal is aborted. */
  watch(paths: string[], request: WatchRequest): Promise<void>;
  status(): Promise<Status>;
  doctor(options?: DoctorOptions): Promise<DoctorReport>;
  /** Checks whether the database keeps tenants apart by itself. */
  checkDatabase(): Promise<DatabaseCheck>;
  /** Distributes the tables over the workers of a Citus cluster; those that are distributed already stay as they are. */
  distributeDatabase(): Promise<Distribution>;
  /** Encrypts what was written before `encryption.key` was set or with an earlier key, or decrypts everything. */
  rewriteDatabase(options?: RewriteOptions): Promise<{ rows: number }>;
  /** The credentials that were taken out of messages. */
  readonly secrets: SecretService;
  backup(file?: string, options?: BackupOptions): Promise<BackupInfo>;
  /** The backups in the backups folder, newest first. */
  listBackups(): BackupFile[];
  /** Notices what any process changes in the database. */
  openChangeFeed(): ChangeFeed;
  /** Removes what is older than the settings `retention` say; undefined while another process does it. */
  applyRetention(): Promise<RetentionReport | undefined>;
  /** Erases everything of a person: chats, messages in groups, summaries, memories, files, vectors. */
  forgetPerson(id: string, options?: ForgetPersonOptions): Promise<ForgetPersonReport>;
  /**
   * The tools for an agent, bound to where they are used: all of the memory, one session, or a grant. Each has a name, a
   * description, schemas, and `run`, which takes the input that a model sends.
   */
  tools(options?: ToolOptions): Promise<readonly BoundTool[]>;
  /** The background jobs of this process. */
  readonly jobs: JobService;
  /** Calls the listener for every event of the engine; the returned function removes it. */
  onEvent(listener: (event: EngineEvent) => void): () => void;
  /** Stops running work and closes the database. A second call has no effect. */
  close(): Promise<void>;
}

/**
 * Opens the memory. The database is created, or migrated, when needed.
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
  const { config, home } = loaded;
  const clock = options.clock ?? systemClock;
  const random = options.random ?? systemRandom;
  const provided = options.models ?? {};
  const ownEmbedder = provided.embedder ? undefined : createEmbedder({ loaded, clock, random });
  const embedder = provided.embedder ?? ownEmbedder;
  if (options.willSearch !== undefined) warmUp(embedder, options.willSearch);
  const keys = loadKeys(config.encryption, { home, env: process.env });
  const store = await openStore({
    database: config.database,
    clock,
    random,
    ...config.store,
    replica: config.databaseReplica,
    backupFolder: backupFolder(home),
    tap: options.tap,
    keys,
    ...chooseCapture(config, keys !== undefined),
  });
  try {
    return wire(options, { loaded, store, embedder, ownEmbedder });
  } catch (error) {
    // Settings that name no usable model are refused here; the store must not stay open.
    await store.close();
    throw error;
  }
}

/** What happens to credentials in messages, by the settings. */
function chooseCapture({ redact }: Config, hasKey: boolean): { captureSecrets?: "seal" | "drop" } {
  const mode = redact.capture ?? (hasKey ? "seal" : "off");
  if (mode === "seal" && !hasKey) {
    throw new VarveError("BAD_CONFIG", "redact.capture is seal, but there is no encryption key.", {
      remedy: "Set encryption.key (`varve db keygen` prints a key), or set redact.capture to drop or off.",
    });
  }
  return mode === "off" ? {} : { captureSecrets: mode };
}

interface Opened {
  loaded: LoadedConfig;
  store: Store;
  embedder: Embedder | undefined;
  /** The embedder that this engine opened, and must close. */
  ownEmbedder: Embedder | undefined;
}

/** Creates the services in the order of their dependencies. */
function wire(options: OpenOptions, { loaded, store, embedder, ownEmbedder }: Opened): Varve {
  const { config, home } = loaded;
  const { clock, random } = store;
  const background = options.background !== false;
  const listeners = new Set<(event: EngineEvent) => void>();
  const emit = (event: EngineEvent) => {
    for (const listener of listeners) listener(event);
  };
  const hooks = createHooks(options.hooks ?? {}, emit);
  const jobs = createJobService({
    store,
    agent: config.agent,
    background,
    onFailed({ agent, key, kind, attempts }, error) {
      const text = error instanceof Error ? error.message : String(error);
      emit({ type: "job.failed", agent, key, data: { kind, error: text, attempts } });
    },
  });
  const models = createModels(loaded, store, options.models ?? {});
  const usage = createUsageRecorder(store, createChainLimits(config));
  const previousEmbedders = new PreviousEmbedders({ loaded, clock, random }, options.models?.earlierEmbedders);
  const sessions = createSessionService(store, config, {
    readParentView: createParentViewReader(store, config),
    beforeReset: hooks.beforeReset,
    emit,
  });
  const transcripts = createTranscriptService({
    store,
    jobs,
    largeContentTokens: config.context.largeFileTokenThreshold,
    describeFile: models.largeFile,
    redact: config.redact.exports,
  });
  const search: SearchService & SearchIndex = createSearchService({
    loaded,
    store,
    embedder,
    reranker: models.reranker,
    openPrevious: (name) => previousEmbedders.open(name),
    findMemories: (visibility, request) => memory.findForSearch(visibility, request),
  });
  const memory: MemoryService & MemoryIndex = createMemoryService({
    loaded,
    store,
    search,
    generate: models.memory,
    jobs,
    emit,
  });
  const context = createContextService({
    ...{ loaded, store, transcripts, sessions, search, memory, models, jobs, emit },
    summarisers: options.summarisers,
    beforeCompact: hooks.beforeCompact,
    wait: options.hooks?.wait,
  });
  const turns = createTurnService({
    config,
    home,
    store,
    sessions,
    transcripts,
    context,
    search,
    memory,
    usage,
    mcpProgram: join(packageFolder, "bin", "varve.js"),
    background,
    afterTurn: hooks.afterTurn,
    emit,
  });
  const audit = createAuditLog(store, config.gateway.audit);
  let closing: Promise<void> | undefined;
  const varve: Varve = {
    settings: loaded,
    sessions,
    transcripts,
    context,
    search,
    memory,
    turns,
    hooks: hooks.service,
    grants: createGrantService({ store, config, sessions }),
    accessTokens: createAccessTokenService(store),
    audit,
    jobs,
    import: (paths, request) => importEverything({ store, config, home }, paths, request),
    importHostTranscript: (transcript, hostOptions) => importHostTranscript({ store, config }, transcript, hostOptions),
    watch: (paths, request) => watchTranscripts({ store, config, home }, paths, request),
    status: () => store.readWithLag(() => readStatus({ loaded, store, search, usage, version })),
    doctor: (doctorOptions) => runDoctor({ store, loaded }, doctorOptions),
    checkDatabase: () => checkDatabase(store),
    distributeDatabase: () => distributeDatabase(store),
    secrets: createSecretService(store, config.agent),
    rewriteDatabase: (rewriteOptions) => rewriteDatabase(store, rewriteOptions),
    backup: (file, backupOptions) => takeBackup(store, home, file, backupOptions),
    listBackups: () => listBackups(backupFolder(home)),
    openChangeFeed: () => createChangeFeed(store),
    // Both concern every tenant, so they run with full access.
    applyRetention: () => runAsEngine(() => applyRetention({ store, config, audit })),
    forgetPerson: (id, forgetOptions) => runAsEngine(() => forgetPerson({ store, loaded }, id, forgetOptions)),
    // Loaded on demand: most programs, and a gateway without MCP clients, do without it.
    tools: async (toolOptions) => (await import("./tools/index.ts")).openToolbox(varve, toolOptions).tools,
    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      closing ??= (async () => {
        await turns.stop();
        await hooks.settle();
        await usage.flush();
        await jobs.stop();
        await search.close();
        await ownEmbedder?.close();
        await previousEmbedders.close();
        try {
          await memory.close();
          await audit.close();
        } finally {
          await store.close();
        }
      })();
      return closing;
    },
  };
  return varve;
}

/** Loads the model and embeds a query while the database is opened. The search reports its failure. */
function warmUp(embedder: Embedder | undefined, query: string): void {
  embedder?.embedQuery(selectEmbeddedText(query)).catch(() => undefined);
}

/** Replaces the database by a backup; no engine may have it open. */
export function restoreBackup(options: OpenOptions, file: string): Promise<RestoreResult> {
  const overrides = options.database === undefined ? options.config : { ...options.config, database: options.database };
  const sources = { clock: options.clock ?? systemClock, random: options.random ?? systemRandom };
  return restoreInto(loadConfig({ home: options.home, overrides }), file, sources);
}
