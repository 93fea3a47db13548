import { once } from "node:events";
import { createReadStream, createWriteStream, renameSync, statSync } from "node:fs";
import { createInterface } from "node:readline";
import { finished } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { sql } from "kysely";
import { VarveError } from "../domain/index.ts";
import { schemaVersion } from "./migrate.ts";
import type { BackupResult, EngineName, StoreTransaction } from "./port.ts";
import type { Db, Schema, Tx } from "./schema.ts";

/** Tables in the order they are restored. What is derived (the text index) is left out and rebuilt. */
export const dumpedTables = [
  "conversations",
  "transcripts",
  "branches",
  "entries",
  "sessions",
  "notices",
  "cron_runs",
  "checkpoints",
  "import_files",
  "quarantine",
  "jobs",
  "summaries",
  "summary_sources",
  "context_items",
  "context_states",
] as const satisfies readonly (keyof Schema)[];

const pageRows = 1000;

/**
 * Writes every table as JSON lines into one compressed file, as one instant of the database. It can be restored into
 * either engine, so it is also the way from one to the other.
 */
export async function dumpTables(db: Db, engine: EngineName, file: string): Promise<BackupResult> {
  const partial = `${file}.partial`;
  const gzip = createGzip();
  const out = createWriteStream(partial, { mode: 0o600 });
  gzip.pipe(out);
  const write = async (value: unknown) => {
    if (!gzip.write(`${JSON.stringify(value)}\n`)) await once(gzip, "drain");
  };
  const isolation = engine === "postgres" ? db.transaction().setIsolationLevel("repeatable read") : db.transaction();
  await isolation.execute(async (tx) => {
    await write({ varveDump: 1, schemaVersion: await schemaVersion(tx, engine) });
    for (const table of dumpedTables) await dumpTable(tx, table, write);
  });
  await write({ end: true });
  gzip.end();
  await finished(out);
  renameSync(partial, file);
  return { file, bytes: statSync(file).size };
}

async function dumpTable(
  tx: Tx,
  table: (typeof dumpedTables)[number],
  write: (value: unknown) => Promise<void>,
): Promise<void> {
  await write({ table });
  if (table === "entries") {
    for (let last = 0; ; ) {
      const rows = await tx
        .selectFrom("entries")
        .selectAll()
        .where("seq", ">", last)
        .orderBy("seq")
        .limit(pageRows)
        .execute();
      if (rows.length === 0) return;
      for (const row of rows) await write(row);
      last = rows.at(-1)?.seq ?? last;
    }
  }
  const rows = await sql<Record<string, unknown>>`select * from ${sql.table(table)}`.execute(tx);
  for (const row of rows.rows) await write(row);
}

/** Reads a dump into an empty database; all of it or nothing. */
export async function restoreDump(tx: StoreTransaction, engine: EngineName, file: string): Promise<{ rows: number }> {
  const lines = createInterface({ input: createReadStream(file).pipe(createGunzip()), crlfDelay: Infinity });
  let table: string | undefined;
  let rows = 0;
  let whole = false;
  let pending: Record<string, unknown>[] = [];
  const flush = async () => {
    if (table && pending.length > 0)
      await tx.db
        .insertInto(table as "entries")
        .values(pending as never)
        .execute();
    pending = [];
  };
  for await (const line of lines) {
    const value = JSON.parse(line) as Record<string, unknown>;
    if (value.varveDump !== undefined) continue;
    if (value.end === true) {
      whole = true;
      continue;
    }
    if (typeof value.table === "string" && Object.keys(value).length === 1) {
      await flush();
      table = value.table;
      continue;
    }
    pending.push(value);
    rows += 1;
    if (pending.length === 100) await flush();
  }
  await flush();
  if (!whole) {
    throw new VarveError("BAD_FILE", `The dump ${file} ends before its end mark: it is not whole.`, {
      remedy: "Nothing was restored. Use another backup.",
    });
  }
  await alignCounters(tx.db, engine);
  return { rows };
}

/** New rows must get numbers above the restored ones. */
async function alignCounters(tx: Tx, engine: EngineName): Promise<void> {
  const highest = [
    ["conversation_id", sql`select coalesce(max(id), 0) as value from conversations`],
    ["transcript_id", sql`select coalesce(max(id), 0) as value from transcripts`],
    ["entry_seq", sql`select coalesce(max(seq), 0) as value from entries`],
  ] as const;
  for (const [counter, query] of highest) {
    const value = ((await query.execute(tx)).rows[0] as { value: number } | undefined)?.value ?? 0;
    if (engine === "postgres") await sql`select setval(${counter}::regclass, ${value + 1}, false)`.execute(tx);
    else await sql`update counters set value = ${value} where name = ${counter}`.execute(tx);
  }
}
