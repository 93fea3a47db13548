import type { Migration } from "./migrate.ts";
import { migrations as ownMigrations } from "./migrations/index.ts";
import type { OpenStoreOptions, Store } from "./port.ts";

export function isPostgres(database: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(database);
}

/** Opens the database, bringing its schema up to date first. `migrations` is for tests of the migration itself. */
export async function openStore(
  options: OpenStoreOptions,
  migrations: readonly Migration[] = ownMigrations,
): Promise<Store> {
  // Each engine is loaded only when it is used: a program on SQLite pays nothing for PostgreSQL.
  if (isPostgres(options.database)) {
    const { openPostgres } = await import("./postgres/open.ts");
    return openPostgres(options, migrations);
  }
  const { openSqlite } = await import("./sqlite/open.ts");
  return openSqlite(options, migrations);
}
