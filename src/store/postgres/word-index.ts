import { sql } from "kysely";
import type { Db, Tx } from "../schema.ts";

/**
 * New words are collected in a list before they are merged into the index. The default of 4 MB is merged so often that a
 * bulk load spends most of its time on it.
 */
const pendingListKiB = 64 * 1024;
/** A search reads the list of pending words completely; a vacuum, which merges it, starts after this many new rows. */
const vacuumAfterRows = 20_000;

const indexes = [
  { table: "entry_text", tenant: "agent", name: "entry_text_words" },
  { table: "memory_text", tenant: "scope", name: "memory_text_words" },
] as const;

/**
 * Builds the word indexes with the tenant as their first column, so that a word of other tenants costs nothing. This
 * takes `btree_gin`, an extension that comes with PostgreSQL; without it the words of all tenants share one list.
 */
export async function indexWordsByTenant(tx: Tx): Promise<void> {
  const hasTenant = await ensureExtension(tx, "btree_gin");
  for (const { table, tenant, name } of indexes) {
    const options = sql.raw(`gin_pending_list_limit = ${pendingListKiB}`);
    const [on, index] = [sql.table(table), sql.ref(name)];
    if (hasTenant && !(await listIndexedColumns(tx, name)).includes(tenant)) {
      await sql`drop index if exists ${index}`.execute(tx);
      await sql`create index ${index} on ${on} using gin (${sql.ref(tenant)}, words) with (${options})`.execute(tx);
    } else {
      await sql`alter index ${index} set (${options})`.execute(tx);
    }
    // The planner overrates how many rows a rare word has: starting parallel workers takes longer than the search.
    await sql`alter table ${on} set (parallel_workers = 0, autovacuum_vacuum_insert_scale_factor = 0,
      autovacuum_vacuum_insert_threshold = ${sql.raw(String(vacuumAfterRows))})`.execute(tx);
  }
}

async function listIndexedColumns(tx: Tx, index: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select a.attname::text as name from pg_attribute a
    join pg_class c on c.oid = a.attrelid where c.relname = ${index} and c.relnamespace = current_schema()::regnamespace`.execute(
    tx,
  );
  return rows.map((row) => row.name);
}

/** Whether an extension is installed, after an attempt to install it. */
export async function ensureExtension(tx: Tx, name: string): Promise<boolean> {
  const { rows } = await sql<{ installed: boolean; available: boolean }>`select
    exists (select 1 from pg_extension where extname = ${name}) as installed,
    exists (select 1 from pg_available_extensions a where a.name = ${name}) as available`.execute(tx);
  if (rows[0]?.installed) return true;
  if (!rows[0]?.available) return false;
  await sql`savepoint extension`.execute(tx);
  try {
    await sql`create extension ${sql.ref(name)}`.execute(tx);
    return true;
  } catch (error) {
    // The role may not install it; everything works without it.
    if ((error as { code?: string }).code !== "STORE_READ_ONLY") throw error;
    await sql`rollback to savepoint extension`.execute(tx);
    return false;
  }
}

/**
 * Merges pending words and refreshes the statistics of the planner after a bulk load; autovacuum would do it later. Only
 * the owner of the tables can, so for another role this does nothing.
 */
export async function refreshStatistics(db: Db): Promise<void> {
  for (const { name } of indexes) await sql`select gin_clean_pending_list(${name}::regclass)`.execute(db);
  for (const table of ["entries", "entry_text", "entry_vectors", "conversations", "memories", "memory_text"]) {
    await sql`analyze ${sql.table(table)}`.execute(db);
  }
}
