import { accessSync, chmodSync, closeSync, constants, existsSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Compilable, sql } from "kysely";
import { newId, VarveError } from "../../domain/index.ts";
import { dumpTables } from "../dump.ts";
import { type Migration, migrate, refuseNewer, schemaVersion } from "../migrate.ts";
import type {
  AppendBatch,
  AppendResult,
  BatchResults,
  BatchRows,
  MemoryTextMatch,
  NearDuplicateQuery,
  NewMemoryRows,
  OpenStoreOptions,
  Store,
  StoreCall,
  StoreTransaction,
  TransactionOptions,
  VectorPage,
} from "../port.ts";
import type { Db, Tx } from "../schema.ts";
import { markRebuild, unfinishedRebuild, unmarkRebuild } from "../text-index.ts";
import { backupInto, Connection } from "./connection.ts";
import { createKysely, type Execute } from "./dialect.ts";
import { SharedEntryFile } from "./entry-file.ts";
import { toSqliteError } from "./errors.ts";
import { countMemoryWords, indexMemory, matchMemories, removeMemoryText } from "./memory-text.ts";
import { countText, matchText, neighbours } from "./text-search.ts";
import { beginWithoutSync } from "./worker-protocol.ts";

const busyAttemptsMax = 3;
const rebuildChunkRows = 500;

/** Identifies a SQLite file as Varve's: "VARV". */
const applicationId = 0x56415256;

export async function openSqlite(options: OpenStoreOptions, migrations: readonly Migration[]): Promise<Store> {
  const file = options.database;
  const busyTimeoutMs = options.busyTimeoutMs ?? 10_000;
  const cacheMiB = options.cacheMiB ?? 32;
  const isKnown = existsSync(file);
  prepareFile(file, options.readOnly ?? false);

  const runTapped = <T>(call: StoreCall, run: () => Promise<T>): Promise<T> => callTapped(options, call, run);
  const writer = options.readOnly ? undefined : new Connection({ file, mode: "writer", busyTimeoutMs, cacheMiB });
  // An existing database will be read soon: its reader thread starts in parallel with the writer thread. For a short
  // command the start of a second thread takes longer than it saves.
  const host = options.isShortLived ? writer : undefined;
  const earlyReader = isKnown ? new Connection({ file, mode: "reader", busyTimeoutMs, cacheMiB }, host) : undefined;
  try {
    if (writer) await writer.ready();
  } catch (error) {
    await earlyReader?.close().catch(() => undefined);
    throw error;
  }
  const readers: Connection[] = earlyReader ? [earlyReader] : [];
  const readersMax = options.readers ?? 1;
  let turn = 0;
  let closed = false;
  const nextReader = (): Connection => {
    if (closed) throw new VarveError("STORE_CLOSED", "The store is closed.");
    const index = turn % readersMax;
    turn += 1;
    const found = readers[index];
    if (found) return found;
    const opened = new Connection({ file, mode: "reader", busyTimeoutMs, cacheMiB });
    readers[index] = opened;
    return opened;
  };

  const execute =
    (connection: () => Connection, call: StoreCall): Execute =>
    (text, parameters) =>
      runTapped(classifyCall(text, call), () =>
        connection().call({ op: "execute", sql: text, parameters }),
      ) as ReturnType<Execute>;
  const requireWriter = (): Connection => {
    if (writer) return writer;
    throw new VarveError("STORE_READ_ONLY", "The store was opened for reading only.");
  };
  const readDb = createKysely(execute(nextReader, "read"));
  const writeDb = createKysely(execute(requireWriter, "write"));
  const relaxedDb = createKysely(execute(requireWriter, "write"), beginWithoutSync);

  /**
   * Opens a connection for one operation. An integrity check needs it too: FTS5 caches its index structure between
   * checks, and reports merges by other connections since then as damage.
   */
  const withFreshReader = async <T>(work: (db: Db) => Promise<T>): Promise<T> => {
    const fresh = new Connection({ file, mode: "reader", busyTimeoutMs, cacheMiB });
    try {
      return await work(
        createKysely(
          execute(() => fresh, "read"),
          "begin",
        ),
      );
    } finally {
      await fresh.close();
    }
  };

  // One transaction at a time owns the writer; an append is a transaction of its own and waits only for that one.
  let gate: Promise<unknown> = Promise.resolve();
  const runExclusive = <T>(work: (tx: Tx) => Promise<T>, { sync = true }: TransactionOptions = {}): Promise<T> => {
    const run = gate.then(async () => {
      try {
        return await retryBusy(() => (sync ? writeDb : relaxedDb).transaction().execute(work));
      } catch (error) {
        // A failed commit may leave the transaction open.
        await writer?.call({ op: "rollback" });
        throw error;
      }
    });
    gate = run.catch(() => undefined);
    return run;
  };
  const append = async (batch: AppendBatch, ownTransaction: boolean): Promise<AppendResult> => {
    if (ownTransaction) await gate;
    const call = () => requireWriter().call({ op: "append", batch, ownTransaction });
    return (await runTapped("append", ownTransaction ? () => retryBusy(call) : call)) as AppendResult;
  };

  const insertMemory = async (memory: NewMemoryRows, unless?: NearDuplicateQuery): Promise<MemoryTextMatch[]> => {
    await gate;
    const call = () => requireWriter().call({ op: "insertMemory", memory, unless, ownTransaction: true });
    return (await runTapped("write", () => retryBusy(call))) as MemoryTextMatch[];
  };
  const insertMemoryInTransaction = async (memory: NewMemoryRows): Promise<void> => {
    await runTapped("write", () => requireWriter().call({ op: "insertMemory", memory, ownTransaction: false }));
  };

  try {
    if (writer) {
      const isMarked = await refuseForeignFile(writeDb, file);
      await migrate(
        {
          engine: "sqlite",
          db: writeDb,
          runExclusive: runExclusive,
          backup: async (version) => {
            const folder = options.backupFolder ?? dirname(file);
            mkdirSync(folder, { recursive: true, mode: 0o700 });
            const target = join(folder, `before-schema-${version}-${newId(options.clock, options.random)}.db`);
            await backupInto(writer, target);
            return target;
          },
        },
        migrations,
      );
      // Setting it again would write to the file, and flush it, at every start.
      if (!isMarked) await sql`pragma application_id = ${sql.raw(String(applicationId))}`.execute(writeDb);
    } else {
      await refuseNewer(readDb, await schemaVersion(readDb, "sqlite"), migrations.at(-1)?.version ?? 0);
    }
  } catch (error) {
    await earlyReader?.close().catch(() => undefined);
    await writer?.close();
    throw toSqliteError(error, file);
  }

  const entryFile = new SharedEntryFile({ file, busyTimeoutMs });
  return {
    engine: "sqlite",
    db: readDb,
    entryFile,
    clock: options.clock,
    random: options.random,
    seal: (text) => text,
    transaction: (work, how) =>
      runExclusive((tx) => {
        const { clock, random } = options;
        return work({ ...createTransaction(tx, append, insertMemoryInTransaction), clock, random });
      }, how),
    append: (batch) => append(batch, true),
    writeBatch: async <Queries extends readonly Compilable[]>(queries: Queries, { sync = true } = {}) => {
      await gate;
      const statements = queries.map(compileStatement);
      const call = () => requireWriter().call({ op: "writeAll", statements, sync });
      return (await runTapped("write", () => retryBusy(call))) as BatchResults<Queries>;
    },
    readWithLag: (work) => work(),
    readBatch: async <Queries extends readonly Compilable[]>(queries: Queries) => {
      const statements = queries.map(compileStatement);
      const answers = await runTapped("read", () => nextReader().call({ op: "executeAll", statements }));
      return (answers as { rows: unknown[] }[]).map(({ rows }) => rows) as BatchRows<Queries>;
    },
    insertMemory,
    matchText: (query) => matchText(readDb, query),
    countText: (query) => countText(readDb, query),
    neighbours: (agent, seqs, radius) => neighbours(readDb, agent, seqs, radius),
    matchMemories: (query) => matchMemories(readDb, query),
    matchNearDuplicates: (query) =>
      runTapped("read", () => nextReader().call({ op: "matchNearDuplicates", query })) as Promise<MemoryTextMatch[]>,
    readVectors: (query) =>
      runTapped("read", () => nextReader().call({ op: "readVectors", query })) as Promise<VectorPage>,
    countMemoryWords: (words, countMax) => countMemoryWords(readDb, words, countMax),
    async backup(target) {
      return backupInto(writer ?? nextReader(), target);
    },
    async dump(target) {
      // A transaction of its own connection: all tables are read from one snapshot.
      return withFreshReader((fresh) => dumpTables(fresh, "sqlite", target));
    },
    checkTenancy: async () => ({ faults: [] }),
    async checkIntegrity() {
      const faults = await withFreshReader(async (fresh) => {
        const result = await sql<{ integrity_check: string }>`pragma integrity_check(20)`.execute(fresh);
        return result.rows.map((row) => row.integrity_check).filter((line) => line !== "ok");
      });
      if (writer) {
        try {
          await sql`insert into entry_text (entry_text) values ('integrity-check')`.execute(writeDb);
          await sql`insert into memory_text (memory_text) values ('integrity-check')`.execute(writeDb);
        } catch (error) {
          faults.push(`full-text index: ${error instanceof Error ? error.message : error}`);
        }
      }
      return [...faults, ...(await unfinishedRebuild(readDb))];
    },
    describeVectors: async () => ({ storage: "memory", isConverting: false, advice: [] }),
    // SQLite keeps no statistics here: its plans are fixed by the form of the statements.
    settleBulkLoad: () => Promise.resolve(),
    async rebuildText(extractWords) {
      await runExclusive(async (tx) => {
        await markRebuild(tx);
        await sql`insert into entry_text (entry_text) values ('delete-all')`.execute(tx);
      });
      let entries = 0;
      for (let last = 0; ; ) {
        const rows = await readDb
          .selectFrom("entries")
          .select(["seq", "agent", "kind", "payload"])
          .where("seq", ">", last)
          .orderBy("seq")
          .limit(rebuildChunkRows)
          .execute();
        if (rows.length === 0) break;
        const found = await extractWords(rows);
        const words = rows.map((row, index) => ({ seq: row.seq, words: found[index] ?? "" }));
        await gate;
        await requireWriter().call({ op: "rebuildText", rows: words });
        entries += words.filter((row) => row.words !== "").length;
        last = rows.at(-1)?.seq ?? last;
      }
      await runExclusive(unmarkRebuild);
      return { entries };
    },
    async scrub() {
      await gate;
      for (const table of ["entry_text", "memory_text"]) {
        // Merges the segments of the index, which drops removed words from them.
        await sql`insert into ${sql.table(table)} (${sql.ref(table)}) values ('optimize')`.execute(writeDb);
      }
      await sql`vacuum`.execute(writeDb);
      const result = await sql<{ busy: number }>`pragma wal_checkpoint(truncate)`.execute(writeDb);
      return { complete: result.rows[0]?.busy === 0 };
    },
    async size() {
      return { bytes: statSync(file).size + (existsSync(`${file}-wal`) ? statSync(`${file}-wal`).size : 0) };
    },
    async close() {
      closed = true;
      await entryFile.close();
      await gate;
      await Promise.all(readers.map((connection) => connection?.close()));
      await writer?.close();
    },
  };
}

function createTransaction(
  tx: Tx,
  append: (batch: AppendBatch, ownTransaction: boolean) => Promise<AppendResult>,
  insertMemory: StoreTransaction["insertMemory"],
): Omit<StoreTransaction, "clock" | "random"> {
  return {
    db: tx,
    append: (batch) => append(batch, false),
    insertMemory,
    // A write transaction already excludes all others in the file.
    lock: () => Promise.resolve(),
    async nextNumber(counter) {
      const result = await sql<{ value: number }>`
        update counters set value = value + 1 where name = ${counter} returning value`.execute(tx);
      return result.rows[0]?.value ?? 1;
    },
    async removeText(_agent, seqs) {
      for (const seq of seqs) await sql`delete from entry_text where rowid = ${seq}`.execute(tx);
    },
    indexMemory: (row) => indexMemory(tx, row),
    removeMemoryText: (nums) => removeMemoryText(tx, nums),
  };
}

function prepareFile(file: string, readOnly: boolean): void {
  if (readOnly) {
    if (existsSync(file)) return;
    throw new VarveError("FILE_NOT_FOUND", `There is no database at ${file}.`, {
      remedy: "Choose the right one with VARVE_HOME or VARVE_DATABASE, or run any command that writes to create it.",
    });
  }
  try {
    requireWritable(file);
    createFolder(dirname(file));
    // SQLite gives its log and index files the mode of the database, so nobody else can read them at any time.
    if (!existsSync(file)) closeSync(openSync(file, "a", 0o600));
    if (existsSync(file) && statSync(file).isDirectory()) {
      throw Object.assign(new Error("it is a folder"), { code: "SQLITE_CANTOPEN" });
    }
  } catch (error) {
    throw toSqliteError(error, file);
  }
}

/**
 * Creates the topmost missing folder by itself first: where the system refuses it with ENOENT, as in `/proc`, Node would
 * try to create it and its parents for ever.
 */
function createFolder(folder: string): void {
  if (existsSync(folder)) return;
  let top = folder;
  while (!existsSync(dirname(top)) && dirname(top) !== top) top = dirname(top);
  try {
    mkdirSync(top, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it in the meantime.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}

/** SQLite and mkdir report only that they failed; checking access first tells that permissions are the cause. */
function requireWritable(file: string): void {
  if (existsSync(file)) accessSync(file, constants.W_OK);
  let folder = dirname(file);
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  accessSync(folder, constants.W_OK);
}

/** Refuses to touch a file that another program created. Returns whether the file is marked as Varve's already. */
async function refuseForeignFile(db: ReturnType<typeof createKysely>, file: string): Promise<boolean> {
  const id = await sql<{ application_id: number }>`pragma application_id`.execute(db);
  if (id.rows[0]?.application_id === applicationId) return true;
  const tables = await sql<{ name: string }>`select name from sqlite_master where type = 'table'`.execute(db);
  const names = new Set(tables.rows.map((row) => row.name));
  if (names.size > 0 && !names.has("meta")) {
    throw new VarveError("STORE_CORRUPT", `The file ${file} is a SQLite database that belongs to another program.`, {
      remedy: "Choose another file with VARVE_DATABASE or `database:` in config.yaml.",
    });
  }
  if (names.size === 0) chmodSync(file, 0o600);
  return false;
}

function compileStatement(query: Compilable): { sql: string; parameters: readonly unknown[] } {
  const { sql: text, parameters } = query.compile();
  return { sql: text, parameters };
}

function classifyCall(text: string, fallback: StoreCall): StoreCall {
  if (text === "begin immediate") return "begin";
  if (text === "commit" || text === "rollback") return text;
  return fallback;
}

async function callTapped<T>(options: OpenStoreOptions, call: StoreCall, run: () => Promise<T>): Promise<T> {
  options.tap?.before?.(call);
  const result = await run();
  options.tap?.after?.(call);
  return result;
}

/** SQLite itself waits for a busy database; a few retries with a pause cover a longer streak. */
async function retryBusy<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof VarveError) || error.code !== "STORE_BUSY" || attempt === busyAttemptsMax) throw error;
      await sleep(50 * attempt);
    }
  }
}
