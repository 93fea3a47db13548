import type { Migration } from "./migrate.ts";
import { migrations as ownMigrations } from "./migrations/index.ts";
import type { EntryFileAddress, EntryFilter, EntryReader, OpenStoreOptions, Store } from "./port.ts";
import { openSealed } from "./seal/open-sealed.ts";

export function isPostgres(database: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(database);
}

/** Opens the database and migrates its schema. `migrations` is a parameter only for tests of migration itself. */
export async function openStore(
  options: OpenStoreOptions,
  migrations: readonly Migration[] = ownMigrations,
): Promise<Store> {
  return (await startStore(options, migrations)).opened;
}

/**
 * Opens the database like `openStore`, and returns as soon as its threads or connections are starting, so that the caller
 * can load other code meanwhile. The caller must handle a rejection of `opened`.
 */
export async function startStore(
  options: OpenStoreOptions,
  migrations: readonly Migration[] = ownMigrations,
): Promise<{ opened: Promise<Store> }> {
  const openEngine = await loadEngine(options.database);
  return { opened: sealOpened(openEngine(options, migrations), options) };
}

async function sealOpened(opening: Promise<Store>, options: OpenStoreOptions): Promise<Store> {
  const store = await opening;
  try {
    return await openSealed(store, options);
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Engines are loaded on demand: a program on SQLite never loads the PostgreSQL driver. */
async function loadEngine(
  database: string,
): Promise<(options: OpenStoreOptions, migrations: readonly Migration[]) => Promise<Store>> {
  if (isPostgres(database)) return (await import("./postgres/open.ts")).openPostgres;
  return (await import("./sqlite/open.ts")).openSqlite;
}

/** Opens the file of a store in the calling thread, for reading entries. See `Store.entryFile`. */
export async function openEntryReader(address: EntryFileAddress, filter: EntryFilter): Promise<EntryReader> {
  const { SqliteEntryReader } = await import("./sqlite/entry-reader.ts");
  return new SqliteEntryReader(address, filter);
}
