import type { ConfigInput, LoadedConfig } from "./config/index.ts";
import type { ContextService, GrantService, Summarisers } from "./context/index.ts";
import type { Clock, EngineEvent, Random } from "./domain/index.ts";
import type { HookOptions, HookService } from "./hooks.ts";
import type { HostTranscript, ImportReport, ImportRequest, WatchRequest } from "./imports/index.ts";
import type { JobService } from "./jobs/index.ts";
import type {
  BackupFile,
  BackupInfo,
  BackupOptions,
  ChangeFeed,
  DatabaseCheck,
  DoctorOptions,
  DoctorReport,
  ForgetPersonOptions,
  ForgetPersonReport,
  RetentionReport,
  RewriteOptions,
  Status,
} from "./maintenance/index.ts";
import type { MemoryService } from "./memory/index.ts";
import type { Models } from "./models/index.ts";
import type { SearchService } from "./search/index.ts";
import type { AccessTokenService, AuditLog } from "./security/index.ts";
import type { OwnerService, SessionService } from "./session/index.ts";
import type { Distribution, StoreTap } from "./store/index.ts";
import type { BoundTool, ToolOptions } from "./tools/index.ts";
import type { SecretService, TranscriptService } from "./transcript/index.ts";
import type { TurnService } from "./turn/index.ts";

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
  /** Whether the engine is opened for one short operation, such as a command that searches: it then starts sooner. */
  isShortLived?: boolean;
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
  /** Who the owner of an agent is. */
  readonly owners: OwnerService;
  /** Grants: the conversations that sub-agents of a host may read. */
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
   * description, schemas, and `run`, which takes the input that a model sends. In a session they reach what its person may
   * see; without a session, a grant or a principal they are the owner's.
   *
   * @example
   * const session = await varve.sessions.resolve({ channel: "app", peer: user.id });
   * const tools = await varve.tools({ session });
   */
  tools(options?: ToolOptions): Promise<readonly BoundTool[]>;
  /** The background jobs of this process. */
  readonly jobs: JobService;
  /** Calls the listener for every event of the engine; the returned function removes it. */
  onEvent(listener: (event: EngineEvent) => void): () => void;
  /** Stops running work and closes the database. A second call has no effect. */
  close(): Promise<void>;
}
