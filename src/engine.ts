import { backupFolder, type Config, type LoadedConfig, loadConfig } from "./config/index.ts";
import { systemClock, systemRandom, VarveError } from "./domain/index.ts";
import type { RestoreResult } from "./maintenance/index.ts";
import { loadKeys, startStore } from "./store/index.ts";
import type { OpenOptions, Varve } from "./varve.ts";

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
  const loaded = loadSettings(options);
  const { config, home } = loaded;
  const clock = options.clock ?? systemClock;
  const random = options.random ?? systemRandom;
  const keys = loadKeys(config.encryption, { home, env: process.env });
  const { opened } = await startStore({
    database: config.database,
    clock,
    random,
    ...config.store,
    isShortLived: options.isShortLived,
    replica: config.databaseReplica,
    backupFolder: backupFolder(home),
    tap: options.tap,
    keys,
    ...chooseCapture(config, keys !== undefined),
  });
  // A failure is reported below, when the store is needed.
  const settled = opened.catch(() => undefined);
  try {
    // Most of the program is loaded while the threads of the store start.
    const { createServices, openEmbedder } = await import("./services.ts");
    const embedder = openEmbedder(options, loaded, clock, random);
    return createServices(options, loaded, await opened, embedder);
  } catch (error) {
    // Settings that name no usable model are refused here; the store must not stay open.
    await (await settled)?.close();
    throw error;
  }
}

function loadSettings(options: OpenOptions): LoadedConfig {
  const overrides = options.database === undefined ? options.config : { ...options.config, database: options.database };
  return loadConfig({ home: options.home, overrides });
}

/** The treatment of credentials in messages, by the settings. */
function chooseCapture({ redact }: Config, hasKey: boolean): { captureSecrets?: "seal" | "drop" } {
  const mode = redact.capture ?? (hasKey ? "seal" : "off");
  if (mode === "seal" && !hasKey) {
    throw new VarveError("BAD_CONFIG", "redact.capture is seal, but there is no encryption key.", {
      remedy: "Set encryption.key (`varve db keygen` prints a key), or set redact.capture to drop or off.",
    });
  }
  return mode === "off" ? {} : { captureSecrets: mode };
}

/** Replaces the database by a backup; no engine may have it open. */
export async function restoreBackup(options: OpenOptions, file: string): Promise<RestoreResult> {
  const sources = { clock: options.clock ?? systemClock, random: options.random ?? systemRandom };
  const loaded = loadSettings(options);
  const { restoreBackup: restoreInto } = await import("./maintenance/index.ts");
  return restoreInto(loaded, file, sources);
}
