import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import type { LoadedConfig } from "../config/index.ts";
import { type Clock, type Random, VarveError } from "../domain/index.ts";
import { rebuildMemoryText } from "../memory/index.ts";
import { isPostgres, openStore, restoreDump, type Store } from "../store/index.ts";
import { indexWordsForRows } from "../transcript/index.ts";
import type { EngineHost } from "./host.ts";
import { backupFolder } from "./status.ts";

const leftoverMs = 3_600_000;

export interface BackupOptions {
  /** JSON lines that either engine can restore, instead of a copy of the SQLite file. */
  portable?: boolean;
}

export interface BackupInfo {
  file: string;
  bytes: number;
}

/** Takes a backup of the database while it is in use. */
export async function backupNow(host: EngineHost, file?: string, options: BackupOptions = {}): Promise<BackupInfo> {
  const portable = options.portable ?? host.store.engine === "postgres";
  const target = file ?? defaultName(host, portable);
  try {
    mkdirSync(dirname(target), { recursive: true });
  } catch (error) {
    throw new VarveError(
      "STORE_READ_ONLY",
      `The folder of ${target} cannot be made: ${error instanceof Error ? error.message : error}.`,
      {
        remedy: "Name another file: `varve backup FILE`.",
        cause: error,
      },
    );
  }
  if (existsSync(target)) {
    throw new VarveError("CONFLICT", `There is a file ${target} already.`, {
      remedy: "Name another one, or remove it.",
    });
  }
  removeLeftovers(dirname(target), host.clock.now());
  const written = portable ? await host.store.dump(target) : await host.store.backup(target);
  chmodSync(target, 0o600);
  return written;
}

/** A backup that was killed leaves a part behind; one that old is nobody's any more. */
function removeLeftovers(folder: string, now: number): void {
  for (const name of readdirSync(folder).filter((one) => one.endsWith(".partial"))) {
    const path = join(folder, name);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat && now - stat.mtimeMs > leftoverMs) rmSync(path, { force: true });
  }
}

function defaultName(host: EngineHost, portable: boolean): string {
  const time = new Date(host.clock.now()).toISOString().replace(/[:.]/g, "-");
  return join(backupFolder(host.loaded.home), `varve-${time}.${portable ? "jsonl.gz" : "db"}`);
}

export interface RestoreResult {
  from: string;
  /** The database as it was before, set aside. */
  kept: string | null;
  messages: number;
}

/** Puts a backup in place of the database. The backup is opened and checked first; what was there is kept. */
export async function restoreBackup(
  loaded: LoadedConfig,
  file: string,
  sources: { clock: Clock; random: Random },
): Promise<RestoreResult> {
  if (!existsSync(file)) {
    throw new VarveError("FILE_NOT_FOUND", `There is no backup at ${file}.`, {
      remedy: `Backups are usually in ${backupFolder(loaded.home)}.`,
    });
  }
  return file.endsWith(".jsonl.gz") ? restoreFromDump(loaded, file, sources) : restoreFromFile(loaded, file, sources);
}

async function restoreFromFile(
  loaded: LoadedConfig,
  file: string,
  sources: { clock: Clock; random: Random },
): Promise<RestoreResult> {
  const { database } = loaded.config;
  if (isPostgres(database)) {
    throw new VarveError(
      "BAD_FILE",
      `${file} is a copy of an SQLite database; the configured database is PostgreSQL.`,
      {
        remedy:
          "Restore it into an SQLite home, then take a portable backup there with `varve backup --portable` and restore that.",
      },
    );
  }
  const candidate = `${database}.restoring`;
  mkdirSync(dirname(database), { recursive: true });
  removeDatabase(candidate);
  copyFileSync(file, candidate);
  const messages = await checkedMessages(candidate, sources);
  const kept = existsSync(database) ? await keepBeside(database, sources) : null;
  renameSync(candidate, database);
  removeDatabase(candidate);
  return { from: file, kept, messages };
}

async function checkedMessages(database: string, sources: { clock: Clock; random: Random }): Promise<number> {
  const store = await openStore({ database, ...sources });
  try {
    const faults = await store.checkIntegrity();
    if (faults.length > 0) {
      throw new VarveError("STORE_CORRUPT", `The backup is damaged: ${faults[0]}.`, {
        remedy: "Nothing was changed. Use another backup.",
      });
    }
    return await countMessages(store);
  } finally {
    await store.close();
  }
}

async function restoreFromDump(
  loaded: LoadedConfig,
  file: string,
  sources: { clock: Clock; random: Random },
): Promise<RestoreResult> {
  const { database } = loaded.config;
  const kept = !isPostgres(database) && existsSync(database) ? setAside(database, sources.clock) : null;
  const store = await openStore({ database, ...sources });
  try {
    if ((await countMessages(store)) > 0) {
      throw new VarveError(
        "CONFLICT",
        "The database holds messages already; a dump is restored into an empty one only.",
        {
          remedy: "Name an empty database with VARVE_DATABASE.",
        },
      );
    }
    await store.transaction((tx) => restoreDump(tx, store.engine, file));
    await store.rebuildText((rows) => indexWordsForRows(store, rows));
    await rebuildMemoryText(store);
    return { from: file, kept, messages: await countMessages(store) };
  } finally {
    await store.close();
  }
}

async function countMessages(store: Store): Promise<number> {
  const row = await store.db
    .selectFrom("conversations")
    .select((eb) => eb.fn.sum<number>("message_count").as("messages"))
    .executeTakeFirst();
  return Number(row?.messages ?? 0);
}

/**
 * A second name for the database, made before another file takes the first one: at every instant there is a database.
 * Opening and closing it brings its log into the file; one too damaged for that keeps its log under the second name.
 */
async function keepBeside(database: string, sources: { clock: Clock; random: Random }): Promise<string> {
  const settled = await openStore({ database, ...sources }).then(
    (store) => store.close(),
    (error: unknown) => error,
  );
  const kept = `${database}.before-restore-${sources.clock.now()}`;
  linkSync(database, kept);
  for (const suffix of ["-wal", "-shm"]) {
    if (existsSync(database + suffix)) renameSync(database + suffix, kept + suffix);
  }
  if (settled instanceof Error && !(settled instanceof VarveError)) throw settled;
  return kept;
}

function setAside(database: string, clock: Clock): string {
  const kept = join(dirname(database), `${basename(database)}.before-restore-${clock.now()}`);
  for (const suffix of ["", "-wal", "-shm"]) {
    if (existsSync(database + suffix)) renameSync(database + suffix, kept + suffix);
  }
  return kept;
}

function removeDatabase(database: string): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(database + suffix, { force: true });
}
