/** The columns and indexes that pgvector adds. They are not in the migrations, because the extension may come later. */
import { createHash } from "node:crypto";
import { sql } from "kysely";
import type { Db, Tx } from "../schema.ts";
import { ensureExtension } from "./word-index.ts";

/** The tables with a column `embedding` next to the bytes of a vector. */
export const vectorTables = ["entry_vectors", "memory_vectors"] as const;

/** Whether the tables have their columns of pgvector. */
export async function hasVectorColumns(db: Db | Tx): Promise<boolean> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from information_schema.columns
    where table_schema = current_schema() and column_name = 'embedding' and udt_name = 'halfvec'
      and table_name = any(${[...vectorTables]}::text[])`.execute(db);
  return rows[0]?.count === vectorTables.length;
}

/**
 * Adds the columns when the extension is installed or this role may install it. Vectors that exist are converted later;
 * the partial index finds them.
 */
export async function addVectorColumns(tx: Tx): Promise<boolean> {
  if (!(await ensureExtension(tx, "vector")) || !(await hasHalfVectors(tx))) return false;
  for (const table of vectorTables) {
    const tenant = sql.raw(table === "entry_vectors" ? "agent" : "scope");
    const number = sql.raw(table === "entry_vectors" ? "seq" : "num");
    await sql`alter table ${sql.table(table)} add column if not exists embedding halfvec`.execute(tx);
    await sql`create index if not exists ${sql.ref(`${table}_to_convert`)} on ${sql.table(table)}
      (${tenant}, space, ${number}) where embedding is null`.execute(tx);
  }
  return true;
}

/** `halfvec` and iterative scans came with 0.8. */
async function hasHalfVectors(tx: Tx): Promise<boolean> {
  const version = await readVectorVersion(tx);
  const [major = 0, minor = 0] = (version ?? "").split(".").map(Number);
  return major > 0 || minor >= 8;
}

export async function readVectorVersion(db: Db | Tx): Promise<string | undefined> {
  const { rows } = await sql<{ version: string }>`select extversion as version from pg_extension
    where extname = 'vector'`.execute(db);
  return rows[0]?.version;
}

/** The name of the index over the vectors of one agent in one space. */
export function nameAgentIndex(agent: string, space: number): string {
  return `${agentIndexPrefix}${space}_${createHash("sha256").update(agent).digest("hex").slice(0, 16)}`;
}

const agentIndexPrefix = "entry_vectors_near_";

/** The indexes over vectors of single agents. One that is not valid is being built, or its building was interrupted. */
export async function listAgentIndexes(db: Db | Tx): Promise<{ name: string; isValid: boolean }[]> {
  const { rows } = await sql<{ name: string; isValid: boolean }>`
    select c.relname::text as name, i.indisvalid as "isValid" from pg_index i join pg_class c on c.oid = i.indexrelid
    where i.indrelid = 'entry_vectors'::regclass and starts_with(c.relname, ${agentIndexPrefix})`.execute(db);
  return rows;
}
