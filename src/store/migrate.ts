import { sql } from "kysely";
import { VarveError } from "../domain/index.ts";
import type { EngineName } from "./port.ts";
import type { Db, Tx } from "./schema.ts";

export interface Migration {
  version: number;
  name: string;
  /**
   * Set when it only adds what earlier versions ignore: tables, indexes, and columns that are nullable or have a default.
   * Then programs of the version before it may go on using the database, so that gateways can be upgraded one by one.
   */
  isAdditive?: boolean;
  up(db: Tx, engine: EngineName): Promise<void>;
  /** The part of `up` that changes rows, for those that come from a dump of an earlier version. */
  rewriteRows?(db: Tx, engine: EngineName): Promise<void>;
}

export interface MigrationTarget {
  engine: EngineName;
  /** A writable connection. */
  db: Db;
  /** Runs a transaction that excludes all other processes. */
  runExclusive<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Called once, before the first change to a database that holds data. */
  backup(fromVersion: number): Promise<string>;
}

/** The schema version of a database; 0 when it is empty. */
export async function schemaVersion(db: Db | Tx, engine: EngineName): Promise<number> {
  const found =
    engine === "postgres"
      ? await sql<{ one: number }>`select 1 as one from information_schema.tables
          where table_schema = current_schema() and table_name = 'meta'`.execute(db)
      : await sql<{ one: number }>`select 1 as one from sqlite_master where type = 'table' and name = 'meta'`.execute(
          db,
        );
  if (found.rows.length === 0) return 0;
  const row = await db.selectFrom("meta").select("value").where("name", "=", "schema_version").executeTakeFirst();
  return row ? Number(row.value) : 0;
}

/** Where the oldest version that may use the database is kept; absent when it is the version of the schema itself. */
const compatibleName = "schema_compatible";

/** The oldest schema version whose programs may use the database. */
async function readCompatible(db: Db | Tx, version: number): Promise<number> {
  if (version === 0) return 0;
  const row = await db.selectFrom("meta").select("value").where("name", "=", compatibleName).executeTakeFirst();
  return row ? Number(row.value) : version;
}

/** Throws when the database was written by a newer program, unless the newer schema only adds to the known one. */
export async function refuseNewer(db: Db | Tx, version: number, known: number): Promise<void> {
  if (version <= known || (await readCompatible(db, version)) <= known) return;
  throw new VarveError(
    "SCHEMA_NEWER",
    `The database has schema version ${version}; this version of Varve supports up to ${known}.`,
    {
      remedy: "Install the version of Varve that wrote it, or a later one. The database was not changed.",
      details: { version, known },
    },
  );
}

/**
 * Applies pending migrations, each in its own transaction, after a backup. Safe to run from several processes at once.
 */
export async function migrate(
  host: MigrationTarget,
  migrations: readonly Migration[],
): Promise<{ from: number; to: number }> {
  const known = migrations.at(-1)?.version ?? 0;
  const from = await schemaVersion(host.db, host.engine);
  await refuseNewer(host.db, from, known);
  const pending = migrations.filter((migration) => migration.version > from);
  if (from > 0 && pending.length > 0) await host.backup(from);
  for (const migration of pending) {
    try {
      await host.runExclusive((tx) => applyOnce(tx, host.engine, migration));
    } catch (error) {
      if (error instanceof VarveError && error.kind !== "failed") throw error;
      throw new VarveError(
        "MIGRATION_FAILED",
        `Migration ${migration.version} (${migration.name}) failed: ${error instanceof Error ? error.message : error}`,
        {
          remedy:
            "Nothing was changed, and a backup was taken first. Fix the cause named above (usually disk space or permissions), then start again.",
          cause: error,
        },
      );
    }
  }
  return { from, to: Math.max(from, known) };
}

async function applyOnce(tx: Tx, engine: EngineName, migration: Migration): Promise<void> {
  // Another process may have applied it while this one waited for the lock.
  const before = await schemaVersion(tx, engine);
  if (before >= migration.version) return;
  if (migration.version === 1) {
    await sql`create table meta (name text not null primary key, value text not null)`.execute(tx);
  }
  const compatible = migration.isAdditive ? await readCompatible(tx, before) : undefined;
  await migration.up(tx, engine);
  await writeMeta(tx, "schema_version", migration.version);
  if (compatible !== undefined) await writeMeta(tx, compatibleName, compatible);
  else await tx.deleteFrom("meta").where("name", "=", compatibleName).execute();
}

async function writeMeta(tx: Tx, name: string, version: number): Promise<void> {
  const value = String(version);
  await tx
    .insertInto("meta")
    .values({ name, value })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ value }))
    .execute();
}
