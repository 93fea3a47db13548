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
  const store = await openEngine(options, migrations);
  try {
    return await openSealed(store, options);
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Engines are loaded on demand: a program on SQLite never loads the PostgreSQL driver. */
async function openEngine(options: OpenStoreOptions, migrations: readonly Migration[]): Promise<Store> {
  if (isPostgres(options.database)) {
    const { openPostgres } = await import("./postgres/open.ts");
    return openPostgres(options, migrations);
  }
  const { openSqlite } = await import("./sqlite/open.ts");
  return openSqlite(options, migrations);
}

/** Opens the file of a store in the calling thread, for reading entries. See `Store.entryFile`. */
export async function openEntryReader(address: EntryFileAddress, filter: EntryFilter): Promise<EntryReader> {
  const { SqliteEntryReader } = await import("./sqlite/entry-reader.ts");
  return new SqliteEntryReader(address, filter);
}
