import { createReadStream, createWriteStream, renameSync, rmSync, statSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { sql } from "kysely";
import { VarveError } from "../domain/index.ts";
import { schemaVersion } from "./migrate.ts";
import { migrations } from "./migrations/index.ts";
import type { BackupResult, EngineName, StoreTransaction } from "./port.ts";
import type { Db, Schema, Tx } from "./schema.ts";

/** Tables in the order they are restored. Derived data (text index, vectors) is not dumped but rebuilt. */
const dumpedTables = [
  "conversations",
  "transcripts",
  "branches",
  "entries",
  "sessions",
  "owners",
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
  "files",
  "file_refs",
  "secrets",
  "turns",
  "inbox",
  "grants",
  "model_states",
  "model_days",
  "token_ratios",
  "memories",
  "memory_sources",
  "memory_relations",
  "memory_support",
  "memory_reviews",
  "memory_cursors",
  "memory_recalls",
  "memory_files",
  "memory_accesses",
  "memory_spend",
  "tokens",
  "audit",
  "audit_links",
] as const satisfies readonly (keyof Schema)[];

/** The schema version of this program, whose tables a dump is restored into. */
const known = migrations.at(-1)?.version ?? 0;

/** Rows of a page: the memory of a dump does not depend on the size of a table. Files may have megabytes each. */
const pageRows = { files: 8, others: 500 };
/** Restored rows are written when this many, or this many characters of them, were read. */
const flushed = { rows: 100, characters: 4_000_000 };

/**
 * Writes every table as JSON lines into one compressed file, as one snapshot of the database. It can be restored into
 * either engine, so it also migrates data between them. The file gets its final name only when it is complete and on
 * disk. `begin` runs first in the transaction of the dump.
 */
export async function dumpTables(
  db: Db,
  engine: EngineName,
  file: string,
  begin: (tx: Tx) => Promise<unknown> = async () => undefined,
): Promise<BackupResult> {
  const partial = `${file}.partial`;
  const isolation = engine === "postgres" ? db.transaction().setIsolationLevel("repeatable read") : db.transaction();
  try {
    await isolation.execute(async (tx) => {
      await begin(tx);
      await pipeline(dumpLines(tx, engine), createGzip(), createWriteStream(partial, { mode: 0o600, flush: true }));
    });
    renameSync(partial, file);
  } catch (error) {
    rmSync(partial, { force: true });
    throw fileError(error, file);
  }
  return { file, bytes: statSync(file).size };
}

/** Explains a disk error while a dump is written; other errors are already explained by the store. */
function fileError(error: unknown, file: string): unknown {
  const { code, syscall } = error as { code?: string; syscall?: string };
  if (error instanceof VarveError || syscall === undefined) return error;
  const cause = error;
  if (code === "ENOSPC" || code === "EDQUOT") {
    return new VarveError("STORE_FULL", `The disk of ${file} is full; no backup was written.`, {
      remedy: "Free some space and try again, or choose a file on another disk.",
      cause,
    });
  }
  if (code === "EACCES" || code === "EPERM" || code === "EROFS") {
    return new VarveError("STORE_READ_ONLY", `The backup ${file} cannot be written: ${code}.`, {
      remedy: "Check the permissions of its folder, or choose another file.",
      cause,
    });
  }
  return new VarveError("STORE_IO", `Writing the backup ${file} failed: ${code}.`, {
    remedy: "Check the disk and the folder, then try again.",
    cause,
  });
}

async function* dumpLines(tx: Tx, engine: EngineName): AsyncGenerator<string> {
  yield toJsonLine({ varveDump: 1, schemaVersion: await schemaVersion(tx, engine) });
  const present = await listTables(tx, engine);
  for (const table of dumpedTables) {
    // A database that is about to be migrated does not have the newer tables yet.
    if (!present.has(table)) continue;
    yield toJsonLine({ table });
    for await (const rows of readPages(tx, engine, table)) yield rows.map(toJsonLine).join("");
  }
  yield toJsonLine({ end: true });
}

async function listTables(tx: Tx, engine: EngineName): Promise<Set<string>> {
  const found =
    engine === "postgres"
      ? await sql<{ name: string }>`select table_name as name from information_schema.tables
          where table_schema = current_schema()`.execute(tx)
      : await sql<{ name: string }>`select name from sqlite_master where type = 'table'`.execute(tx);
  return new Set(found.rows.map((row) => row.name));
}

function toJsonLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

type DumpedTable = (typeof dumpedTables)[number];
type Row = Record<string, unknown>;

function readPages(tx: Tx, engine: EngineName, table: DumpedTable): AsyncGenerator<Row[]> {
  const rows = table === "files" ? pageRows.files : pageRows.others;
  return engine === "postgres" ? readByCursor(tx, table, rows) : readByRowNumber(tx, table, rows);
}

/** The cursor reads from the snapshot of the transaction. */
async function* readByCursor(tx: Tx, table: DumpedTable, rows: number): AsyncGenerator<Row[]> {
  await sql`declare dumped no scroll cursor for select * from ${sql.table(table)}`.execute(tx);
  for (;;) {
    const page = await sql<Row>`fetch ${sql.raw(String(rows))} from dumped`.execute(tx);
    if (page.rows.length > 0) yield page.rows;
    if (page.rows.length < rows) break;
  }
  await sql`close dumped`.execute(tx);
}

/** Every dumped table of SQLite has row numbers. */
async function* readByRowNumber(tx: Tx, table: DumpedTable, rows: number): AsyncGenerator<Row[]> {
  for (let last: number | null = null; ; ) {
    const after = last === null ? sql`` : sql`where rowid > ${last}`;
    const page: { rows: Row[] } = await sql<Row>`select rowid as dump_row_number, * from ${sql.table(table)} ${after}
      order by rowid limit ${rows}`.execute(tx);
    if (page.rows.length > 0) yield page.rows.map(({ dump_row_number: _, ...row }) => row);
    if (page.rows.length < rows) return;
    last = page.rows.at(-1)?.dump_row_number as number;
  }
}

/** Restores a dump into an empty database, completely or not at all. */
export async function restoreDump(tx: StoreTransaction, engine: EngineName, file: string): Promise<{ rows: number }> {
  let table: string | undefined;
  let rows = 0;
  let whole = false;
  let version = known;
  let pending: Row[] = [];
  let characters = 0;
  const flush = async () => {
    // A dump by an older program may contain tables that are derived today; they are rebuilt instead.
    if (table && pending.length > 0 && dumpedTables.some((one) => one === table))
      await tx.db
        .insertInto(table as "entries")
        .values(pending as never)
        .execute();
    pending = [];
    characters = 0;
  };
  for await (const line of readLines(file)) {
    const value = JSON.parse(line) as Row;
    if (value.varveDump !== undefined) {
      version = Number(value.schemaVersion);
      if (version > known) throw createNewerError(file, version);
      continue;
    }
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
    characters += line.length;
    if (pending.length === flushed.rows || characters >= flushed.characters) await flush();
  }
  await flush();
  if (!whole) {
    throw new VarveError("BAD_FILE", `The dump ${file} is incomplete: its end mark is missing.`, {
      remedy: "Nothing was restored. Use another backup.",
    });
  }
  for (const migration of migrations.filter((one) => one.version > version)) {
    await migration.rewriteRows?.(tx.db, engine);
  }
  await alignCounters(tx.db, engine);
  return { rows };
}

function createNewerError(file: string, version: number): VarveError {
  return new VarveError(
    "SCHEMA_NEWER",
    `The dump ${file} has schema version ${version}; this version of Varve supports up to ${known}.`,
    { remedy: "Install the version of Varve that wrote it, or a later one. Nothing was restored." },
  );
}

/** The longest line of a dump; the largest rows are files of some megabytes. */
const lineCharactersMax = 256 * 1024 * 1024;

/** Node's own line reader also splits at U+2028 and U+2029, which appear unescaped in JSON. */
export async function* readLines(file: string, charactersMax = lineCharactersMax): AsyncGenerator<string> {
  const text = createReadStream(file).pipe(createGunzip()).setEncoding("utf8");
  let pieces: string[] = [];
  let characters = 0;
  for await (const chunk of text as AsyncIterable<string>) {
    const [first = "", ...lines] = chunk.split("\n");
    pieces.push(first);
    characters += first.length;
    if (characters > charactersMax) throw createLineError(file, charactersMax);
    const last = lines.pop();
    if (last === undefined) continue;
    yield pieces.join("");
    yield* lines;
    pieces = [last];
    characters = last.length;
  }
  if (characters > 0) yield pieces.join("");
}

function createLineError(file: string, charactersMax: number): VarveError {
  return new VarveError("BAD_FILE", `The dump ${file} has a line of more than ${charactersMax} characters.`, {
    remedy: "Nothing was restored. No dump of Varve has such a line: use another backup.",
  });
}

/** New rows must get numbers above the restored ones. */
export async function alignCounters(tx: Tx, engine: EngineName): Promise<void> {
  const highest = [
    ["conversation_id", sql`select coalesce(max(id), 0) as value from conversations`],
    ["transcript_id", sql`select coalesce(max(id), 0) as value from transcripts`],
    ["entry_seq", sql`select coalesce(max(seq), 0) as value from entries`],
    ["memory_number", sql`select coalesce(max(num), 0) as value from memories`],
  ] as const;
  for (const [counter, query] of highest) {
    const value = ((await query.execute(tx)).rows[0] as { value: number } | undefined)?.value ?? 0;
    if (engine === "postgres") await sql`select setval(${counter}::regclass, ${value + 1}, false)`.execute(tx);
    else await sql`update counters set value = ${value} where name = ${counter}`.execute(tx);
  }
  // SQLite's autoincrement continues after the largest inbox row by itself.
  if (engine === "postgres") {
    await sql`select setval('inbox_num_seq', (select coalesce(max(num), 0) + 1 from inbox), false)`.execute(tx);
  }
}
