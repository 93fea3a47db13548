import { type ConfigInput, type LoadedConfig, loadConfig } from "./config/index.ts";
import { type Clock, type Random, systemClock, systemRandom } from "./domain/index.ts";
import { type BackupInfo, backupNow } from "./engine/backup.ts";
import { type DoctorOptions, type DoctorReport, examine } from "./engine/doctor.ts";
import type { EngineHost } from "./engine/host.ts";
import { type ImportRequest, importInto } from "./engine/imports.ts";
import { type Sessions, sessionsOf } from "./engine/sessions.ts";
import { backupFolder, type Status, statusOf } from "./engine/status.ts";
import { type Context, contextOf, type Transcripts, transcriptsOf } from "./engine/transcripts.ts";
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
  /** Sees every call to the store; for fault injection. */
  tap?: StoreTap;
}

/** Everything Varve does, behind one door. */
export interface Varve {
  readonly settings: LoadedConfig;
  readonly sessions: Sessions;
  readonly transcripts: Transcripts;
  readonly context: Context;
  import(paths: string[], request?: ImportRequest): Promise<ImportReport>;
  status(): Promise<Status>;
  doctor(options?: DoctorOptions): Promise<DoctorReport>;
  backup(file?: string): Promise<BackupInfo>;
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
  const host: EngineHost = { loaded, store, clock, random };
  return {
    settings: loaded,
    sessions: sessionsOf(host),
    transcripts: transcriptsOf(host),
    context: contextOf(host),
    import: (paths, request) => importInto(host, paths, request),
    status: () => statusOf(host, version),
    doctor: (doctorOptions) => examine(host, doctorOptions),
    backup: (file) => backupNow(host, file),
    close: () => store.close(),
  };
}
