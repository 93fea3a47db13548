import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Compilable, Kysely, PostgresDialect, sql } from "kysely";
import { newId, VarveError } from "../../domain/index.ts";
import { dumpTables } from "../dump.ts";
import { type Migration, migrate } from "../migrate.ts";
import type {
  AppendBatch,
  AppendResult,
  BatchResults,
  BatchRows,
  OpenStoreOptions,
  Store,
  StoreCall,
  StoreTransaction,
} from "../port.ts";
import type { Schema, Tx } from "../schema.ts";
import { markRebuild, unfinishedRebuild, unmarkRebuild } from "../text-index.ts";
import { appendInTransaction, insertWords } from "./append.ts";
import {
  appendByFunction,
  attachToFlight,
  callAppend,
  createAppendFunction,
  hasAppendFunction,
  isForGeneralAppend,
  isPlainAppend,
  toAppendResult,
} from "./append-function.ts";
import { combineQueries, type Fragment, splitRows } from "./combine-statements.ts";
import { type Connections, defaultPoolSize, openConnections } from "./connections.ts";
import { describeServer } from "./describe-server.ts";
import { distributeTables } from "./distribution.ts";
import { toPostgresError } from "./errors.ts";
import { countChanges } from "./flight.ts";
import { describeVectors } from "./maintain-vectors.ts";
import {
  countMemoryWords,
  indexMemory,
  insertMemory,
  matchMemories,
  matchNearDuplicates,
  removeMemoryText,
} from "./memory-text.ts";
import { onPrimary, Replica } from "./replica.ts";
import { findPolicyFaults, isBoundByPolicies } from "./row-security.ts";
import { StatementNames } from "./statement-names.ts";
import {
  createTappedPool,
  disableSyncText,
  type FlightRequest,
  type FlightResult,
  noRows,
  type ServerFacts,
  withoutSync,
} from "./tapped-pool.ts";
import { countText, matchText, neighbours } from "./text-search.ts";
import { readVectors } from "./vector-pages.ts";
import { addVectorColumns, hasVectorColumns } from "./vector-schema.ts";
import { createDatabaseVectors } from "./vectors.ts";
import { withoutStatementLimit } from "./watched-client.ts";
import { refreshStatistics } from "./word-index.ts";

const attemptsMax = 5;
const rebuildChunkRows = 500;
const tableLockMs = 5_000;
/** A conflict means that another process wrote the same row first; a retry finds that row. */
const retryable = new Set<string>(["STORE_BUSY", "CONFLICT"]);
/** Identifies Varve among the server's advisory locks. */
const migrationLock = 0x56415256;

export async function openPostgres(options: OpenStoreOptions, migrations: readonly Migration[]): Promise<Store> {
  const { database } = options;
  const connections = openConnections(options);
  const replica = options.replica === undefined ? undefined : new Replica(options, options.replica);
  const server: ServerFacts = { isTenancyEnforced: false, isDistributed: false, names: new StatementNames() };
  const tappedPool = createTappedPool(connections, replica, options, server);
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: tappedPool }) });

  const retry = async <T>(work: () => Promise<T>): Promise<T> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await onPrimary(work);
      } catch (error) {
        const known = toPostgresError(error, database);
        if (!(known instanceof VarveError) || !retryable.has(known.code) || attempt === attemptsMax) throw known;
        await sleep(20 * attempt);
      }
    }
  };

  const runTransaction = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => retry(() => db.transaction().execute(work));
  const runFlight = async (call: StoreCall, flight: FlightRequest): Promise<FlightResult> => {
    const connection = await tappedPool.connect();
    try {
      return await connection.runFlight(call, flight);
    } finally {
      connection.release();
    }
  };
  /** The batch in one round trip; undefined when the general append has to decide. */
  const appendPlainly = async (batch: AppendBatch): Promise<AppendResult | undefined> => {
    if (!hasFunction || !isPlainAppend(batch)) return undefined;
    const expressions = [...(batch.sync === false ? [withoutSync] : []), callAppend(batch, { raises: true })];
    const statements = (batch.attached ?? []).map(attachToFlight);
    try {
      const { row } = await retry(() => runFlight("append", { expressions, statements }));
      return toAppendResult(batch, row);
    } catch (error) {
      if (isForGeneralAppend(error)) return undefined;
      throw error;
    }
  };

  const appendQueue = new KeyedQueue();
  let ended: Promise<void> | undefined;
  let [isOwner, hasVectors, hasFunction] = [false, false, false];
  try {
    await withoutStatementLimit(() =>
      migrate(
        {
          engine: "postgres",
          db,
          runExclusive: (work) =>
            runTransaction(async (tx) => {
              await sql`select pg_advisory_xact_lock(${migrationLock})`.execute(tx);
              // A change that waits for a table makes everybody else wait for it: it gives up and tries again.
              await sql`set local lock_timeout = ${sql.lit(`${tableLockMs}ms`)}`.execute(tx);
              return work(tx);
            }),
          backup: async (version) => {
            const folder = options.backupFolder ?? tmpdir();
            mkdirSync(folder, { recursive: true, mode: 0o700 });
            const target = join(folder, `before-schema-${version}-${newId(options.clock, options.random)}.jsonl.gz`);
            // Another process may be changing tables right now: the dump waits for it, or they would wait for each other.
            await dumpTables(db, "postgres", target, (tx) =>
              sql`select pg_advisory_xact_lock(${migrationLock})`.execute(tx),
            );
            return target;
          },
        },
        migrations,
      ),
    );
    server.isTenancyEnforced = await isBoundByPolicies(db);
    server.isDistributed = await hasCitus(db);
    isOwner = !server.isTenancyEnforced && (await ownsTables(db));
    const runAsMigration = (work: (tx: Tx) => Promise<boolean>) =>
      withoutStatementLimit(() =>
        runTransaction(async (tx) => {
          await sql`select pg_advisory_xact_lock(${migrationLock})`.execute(tx);
          return work(tx);
        }),
      );
    hasVectors = (await hasVectorColumns(db)) || (isOwner && (await runAsMigration(addVectorColumns)));
    hasFunction = (await hasAppendFunction(db)) || (isOwner && (await runAsMigration(createAppendFunction)));
    const { preparedStatements = "auto" } = options;
    const hasPooler = await detectPooler(connections);
    const isNaming = preparedStatements === "auto" ? !hasPooler : preparedStatements === "on";
    if (isNaming) server.names.enable();
    connections.isEstablished = true;
  } catch (error) {
    await Promise.all([connections.end(), replica?.end()]);
    throw toPostgresError(error, database);
  }

  const vectors = hasVectors ? createDatabaseVectors(db, { isOwner, now: () => options.clock.now() }) : undefined;
  const encode = vectors?.encode;
  return {
    engine: "postgres",
    db,
    clock: options.clock,
    random: options.random,
    seal: (text) => text,
    transaction: (work, { sync = true } = {}) =>
      runTransaction(async (tx) => {
        if (!sync) await disableSync(tx);
        const own = createTransaction(tx, { encode, hasFunction });
        return work({ ...own, clock: options.clock, random: options.random });
      }),
    append: (batch) =>
      appendQueue.run(
        `${batch.agent}:${batch.conversation}`,
        async () =>
          (await appendPlainly(batch)) ??
          runTransaction(async (tx) => {
            if (batch.sync === false) await disableSync(tx);
            return appendInTransaction(tx, batch);
          }),
      ),
    writeBatch: async <Queries extends readonly Compilable[]>(
      queries: Queries,
      { sync = true, lock }: { sync?: boolean; lock?: string } = {},
    ) => {
      const expressions = [...(sync ? [] : [withoutSync]), ...(lock === undefined ? [] : [lockFor(lock)])];
      const statements = queries.map(toFragment);
      const { results } = await retry(() => runFlight("write", { expressions, statements }));
      return results.map((one) => ({ rows: one.rows, changes: countChanges(one) })) as BatchResults<Queries>;
    },
    readBatch: async <Queries extends readonly Compilable[]>(queries: Queries) => {
      const statements = queries.map(toFragment);
      const isOne = statements.length === 1;
      const flight = { expressions: [], statements: isOne ? statements : [combineQueries(statements)] };
      const [found = noRows] = (await runFlight("read", flight)).results;
      return (isOne ? [found.rows] : splitRows(found, statements.length)) as BatchRows<Queries>;
    },
    ...(vectors === undefined
      ? {}
      : { vectors: { ...vectors, maintain: (given) => withoutStatementLimit(() => vectors.maintain(given)) } }),
    readWithLag: (work) => (replica === undefined ? work() : replica.read(work)),
    ...(replica === undefined ? {} : { describeReplica: () => replica.describe() }),
    describeServer: () => describeServer(db, connections, options.poolSize ?? defaultPoolSize),
    describeVectors: () => describeVectors(db, { isOwner }),
    readVectors: (query) => readVectors(db, query),
    matchText: (query) => matchText(db, query),
    countText: (query) => countText(db, query),
    neighbours: (agent, seqs, radius) => neighbours(db, agent, seqs, radius),
    insertMemory: (memory, unless) =>
      runTransaction(async (tx) => {
        // Of two concurrent near-duplicates the second waits for the lock and finds the first.
        if (unless) await createTransaction(tx).lock(`memories ${unless.scope}`);
        const like = unless ? await matchNearDuplicates(tx, unless) : [];
        if (like.length === 0) await insertMemory(tx, memory, encode);
        return like;
      }),
    matchMemories: (query) => matchMemories(db, query),
    matchNearDuplicates: (query) => matchNearDuplicates(db, query),
    countMemoryWords: (words, countMax) => countMemoryWords(db, words, countMax),
    backup: (file) => withoutStatementLimit(() => dumpTables(db, "postgres", file)),
    dump: (file) => withoutStatementLimit(() => dumpTables(db, "postgres", file)),
    checkIntegrity: () =>
      withoutStatementLimit(async () => {
        const missing = await sql<{ missing: number }>`select count(*) as missing from entry_text t
        where not exists (select 1 from entries e where e.seq = t.seq and e.agent = t.agent)`.execute(db);
        const count = missing.rows[0]?.missing ?? 0;
        const dangling = count === 0 ? [] : [`full-text index: ${count} rows refer to missing entries`];
        return [...dangling, ...(await unfinishedRebuild(db))];
      }),
    async checkTenancy() {
      const { rows } = await sql<{ role: string }>`select current_user::text as role`.execute(db);
      return { role: rows[0]?.role ?? "", faults: await findPolicyFaults(db) };
    },
    distribute: () => withoutStatementLimit(() => distributeTables(db)),
    async settleBulkLoad() {
      if (isOwner) await withoutStatementLimit(() => refreshStatistics(db));
    },
    rebuildText: (extractWords) =>
      withoutStatementLimit(async () => {
        await runTransaction(async (tx) => {
          await markRebuild(tx);
          await sql`delete from entry_text`.execute(tx);
        });
        let entries = 0;
        for (let last = 0; ; ) {
          const rows = await db
            .selectFrom("entries")
            .select(["seq", "agent", "conversation", "kind", "payload"])
            .where("seq", ">", last)
            .orderBy("seq")
            .limit(rebuildChunkRows)
            .execute();
          if (rows.length === 0) break;
          const found = await extractWords(rows);
          await runTransaction(async (tx) => {
            const indexed = rows.map((row, index) => ({ ...row, words: found[index] ?? "" }));
            const conversations = Map.groupBy(
              indexed.filter((row) => row.words !== ""),
              (row) => `${row.agent}\n${row.conversation}`,
            );
            for (const [first, ...others] of conversations.values()) {
              if (!first) continue;
              await insertWords(tx, first.agent, first.conversation, [first, ...others]);
              entries += 1 + others.length;
            }
          });
          last = rows.at(-1)?.seq ?? last;
        }
        await runTransaction(unmarkRebuild);
        return { entries };
      }),
    scrub: () =>
      withoutStatementLimit(async () => {
        // Only the owner of the tables can rewrite them.
        if (server.isTenancyEnforced) return { complete: false };
        for (const table of scrubbedTables) await sql`vacuum full ${sql.table(table)}`.execute(db);
        return { complete: true };
      }),
    async size() {
      const result = await sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`.execute(db);
      return { bytes: result.rows[0]?.bytes ?? 0 };
    },
    close() {
      ended ??= Promise.all([connections.end(), replica?.end()]).then(() => undefined);
      return ended;
    },
  };
}

/** The tables that hold content of conversations and memories. */
const scrubbedTables = [
  ...["entries", "entry_text", "entry_vectors", "entry_tokens", "document_vectors", "files", "summaries", "inbox"],
  ...["memories", "memory_text", "memory_vectors", "memory_recalls", "memory_reviews", "memory_files", "quarantine"],
];

/** Only the owner of a table may index it and refresh its statistics. */
async function ownsTables(db: Kysely<Schema>): Promise<boolean> {
  const { rows } = await sql<{ owned: boolean }>`select pg_has_role(relowner, 'usage') as owned from pg_class
    where oid = 'entries'::regclass`.execute(db);
  return rows[0]?.owned ?? false;
}

/** Whether tables may be distributed over several servers. */
async function hasCitus(db: Kysely<Schema>): Promise<boolean> {
  const { rows } = await sql<{ one: number }>`select 1 as one from pg_extension where extname = 'citus'`.execute(db);
  return rows.length > 0;
}

function toFragment(query: Compilable): Fragment {
  const { sql: text, parameters } = query.compile();
  return { text, values: parameters };
}

function lockFor(name: string): Fragment {
  return { text: "pg_advisory_xact_lock(hashtextextended($1, 0))", values: [name] };
}

async function disableSync(tx: Tx): Promise<void> {
  await sql.raw(disableSyncText).execute(tx);
}

async function detectPooler(connections: Connections): Promise<boolean> {
  const client = await connections.checkOut();
  try {
    return await connections.detectPooler(client);
  } finally {
    client.release();
  }
}

function createTransaction(
  tx: Tx,
  { encode, hasFunction = false }: { encode?: (vector: Int8Array) => string; hasFunction?: boolean } = {},
): Omit<StoreTransaction, "clock" | "random"> {
  return {
    db: tx,
    append: async (batch) =>
      (hasFunction ? await appendByFunction(tx, batch) : undefined) ?? appendInTransaction(tx, batch),
    insertMemory: (memory) => insertMemory(tx, memory, encode),
    async lock(name) {
      await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx);
    },
    async nextNumber(counter) {
      const result = await sql<{ value: number }>`select nextval(${counter}::regclass) as value`.execute(tx);
      return result.rows[0]?.value ?? 1;
    },
    async removeText(agent, seqs) {
      await sql`delete from entry_text where agent = ${agent} and seq = any(${seqs}::bigint[])`.execute(tx);
    },
    indexMemory: (row) => indexMemory(tx, row),
    removeMemoryText: (nums) => removeMemoryText(tx, nums),
  };
}

/** Runs work with the same key in order; different keys run concurrently. */
class KeyedQueue {
  private readonly tails = new Map<string, Promise<unknown>>();

  run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.tails.get(name) ?? Promise.resolve();
    const mine = before.then(work, work);
    const tail = mine.catch(() => undefined);
    this.tails.set(name, tail);
    void tail.then(() => {
      if (this.tails.get(name) === tail) this.tails.delete(name);
    });
    return mine;
  }
}
