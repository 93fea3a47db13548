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
import { backupFolder, type LoadedConfig } from "../config/index.ts";
import { type Clock, type Random, VarveError } from "../domain/index.ts";
import { rebuildMemoryText } from "../memory/index.ts";
import {
  isPostgres,
  isSealedFile,
  loadKeys,
  openSealedFile,
  openStore,
  restoreDump,
  type Store,
} from "../store/index.ts";
import { indexWordsForRows } from "../transcript/index.ts";

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
export async function takeBackup(
  store: Store,
  home: string,
  file?: string,
  options: BackupOptions = {},
): Promise<BackupInfo> {
  const portable = options.portable ?? store.engine === "postgres";
  const target = file ?? defaultName(store, home, portable);
  try {
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
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
  removeLeftovers(dirname(target), store.clock.now());
  const written = portable ? await store.dump(target) : await store.backup(target);
  chmodSync(target, 0o600);
  return written;
}

/** Removes the partial file of a backup that was killed. */
function removeLeftovers(folder: string, now: number): void {
  for (const name of readdirSync(folder).filter((one) => one.endsWith(".partial"))) {
    const path = join(folder, name);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat && now - stat.mtimeMs > leftoverMs) rmSync(path, { force: true });
  }
}

function defaultName(store: Store, home: string, portable: boolean): string {
  const time = new Date(store.clock.now()).toISOString().replace(/[:.]/g, "-");
  return join(backupFolder(home), `varve-${time}.${portable ? "jsonl.gz" : "db"}`);
}

export interface RestoreResult {
  from: string;
  /** The previous database, renamed. */
  kept: string | null;
  messages: number;
}

/** The time and randomness of a restore, and the keys of encrypted backups. */
interface RestoreSources {
  clock: Clock;
  random: Random;
  keys?: Keys;
}

type Keys = NonNullable<ReturnType<typeof loadKeys>>;

/** Replaces the database by a backup. The backup is opened and checked first; the previous database is kept. */
export async function restoreBackup(
  loaded: LoadedConfig,
  file: string,
  { clock, random }: Omit<RestoreSources, "keys">,
): Promise<RestoreResult> {
  if (!existsSync(file)) {
    throw new VarveError("FILE_NOT_FOUND", `There is no backup at ${file}.`, {
      remedy: `Backups are usually in ${backupFolder(loaded.home)}.`,
    });
  }
  const keys = loadKeys(loaded.config.encryption, { home: loaded.home, env: process.env });
  const sources = { clock, random, ...(keys ? { keys } : {}) };
  const restore = file.endsWith(".jsonl.gz") ? restoreFromDump : restoreFromFile;
  if (!isSealedFile(file)) return restore(loaded, file, sources);
  const plain = `${file}.${clock.now()}.partial`;
  try {
    await openSealedFile(file, plain, keys ?? []);
    return { ...(await restore(loaded, plain, sources)), from: file };
  } finally {
    rmSync(plain, { force: true });
  }
}

async function restoreFromFile(loaded: LoadedConfig, file: string, sources: RestoreSources): Promise<RestoreResult> {
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
  mkdirSync(dirname(database), { recursive: true, mode: 0o700 });
  removeDatabase(candidate);
  copyFileSync(file, candidate);
  const messages = await checkedMessages(candidate, sources);
  const kept = existsSync(database) ? await keepPrevious(database, sources) : null;
  renameSync(candidate, database);
  removeDatabase(candidate);
  return { from: file, kept, messages };
}

async function checkedMessages(database: string, sources: RestoreSources): Promise<number> {
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

async function restoreFromDump(loaded: LoadedConfig, file: string, sources: RestoreSources): Promise<RestoreResult> {
  const { database } = loaded.config;
  const kept = !isPostgres(database) && existsSync(database) ? renamePrevious(database, sources.clock) : null;
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
    await store.settleBulkLoad();
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
 * Links the database under a second name before it is replaced, so that a database exists at every moment. Opening and
 * closing it checkpoints its WAL; a database too damaged for that keeps its WAL under the second name.
 */
async function keepPrevious(database: string, sources: RestoreSources): Promise<string> {
  const outcome = await openStore({ database, ...sources }).then(
    (store) => store.close(),
    (error: unknown) => error,
  );
  const kept = `${database}.before-restore-${sources.clock.now()}`;
  linkSync(database, kept);
  for (const suffix of ["-wal", "-shm"]) {
    if (existsSync(database + suffix)) renameSync(database + suffix, kept + suffix);
  }
  if (outcome instanceof Error && !(outcome instanceof VarveError)) throw outcome;
  return kept;
}

function renamePrevious(database: string, clock: Clock): string {
  const kept = join(dirname(database), `${basename(database)}.before-restore-${clock.now()}`);
  for (const suffix of ["", "-wal", "-shm"]) {
    if (existsSync(database + suffix)) renameSync(database + suffix, kept + suffix);
  }
  return kept;
}

function removeDatabase(database: string): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(database + suffix, { force: true });
}
