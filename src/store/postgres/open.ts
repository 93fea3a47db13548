import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Compilable, Kysely, PostgresDialect, type PostgresPoolClient, sql } from "kysely";
import { newId, VarveError } from "../../domain/index.ts";
import { dumpTables } from "../dump.ts";
import { type Migration, migrate } from "../migrate.ts";
import type { BatchResults, BatchRows, OpenStoreOptions, Store, StoreCall, StoreTransaction } from "../port.ts";
import type { Schema, Tx } from "../schema.ts";
import { markRebuild, unfinishedRebuild, unmarkRebuild } from "../text-index.ts";
import { appendInTransaction, insertWords } from "./append.ts";
import { type Connections, defaultPoolSize, openConnections } from "./connections.ts";
import { describeServer } from "./describe-server.ts";
import { toPostgresError } from "./errors.ts";
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
import { findPolicyFaults, isBoundByPolicies, nameTenant } from "./row-security.ts";
import { countText, matchText, neighbours } from "./text-search.ts";
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
  const tenancy = { isEnforced: false };
  const db = new Kysely<Schema>({
    dialect: new PostgresDialect({ pool: createTappedPool(connections, replica, options, tenancy) }),
  });

  const runTransaction = async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await onPrimary(() => db.transaction().execute(work));
      } catch (error) {
        const known = toPostgresError(error, database);
        if (!(known instanceof VarveError) || !retryable.has(known.code) || attempt === attemptsMax) throw known;
        await sleep(20 * attempt);
      }
    }
  };

  const appendQueue = new KeyedQueue();
  let ended: Promise<void> | undefined;
  let [isOwner, hasVectors] = [false, false];
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
    tenancy.isEnforced = await isBoundByPolicies(db);
    isOwner = !tenancy.isEnforced && (await ownsTables(db));
    hasVectors =
      (await hasVectorColumns(db)) ||
      (isOwner &&
        (await withoutStatementLimit(() =>
          runTransaction(async (tx) => {
            await sql`select pg_advisory_xact_lock(${migrationLock})`.execute(tx);
            return addVectorColumns(tx);
          }),
        )));
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
        return work({ ...createTransaction(tx, encode), clock: options.clock, random: options.random });
      }),
    append: (batch) =>
      appendQueue.run(`${batch.agent}:${batch.conversation}`, () =>
        runTransaction(async (tx) => {
          if (batch.sync === false) await disableSync(tx);
          return appendInTransaction(tx, batch);
        }),
      ),
    writeBatch: async <Queries extends readonly Compilable[]>(
      queries: Queries,
      { sync = true, lock }: { sync?: boolean; lock?: string } = {},
    ) =>
      runTransaction(async (tx) => {
        if (!sync) await disableSync(tx);
        if (lock !== undefined) await createTransaction(tx).lock(lock);
        const written: { rows: unknown[]; changes: number }[] = [];
        for (const query of queries) {
          const { rows, numAffectedRows } = await tx.executeQuery(query.compile());
          written.push({ rows, changes: Number(numAffectedRows ?? 0) });
        }
        return written as BatchResults<Queries>;
      }),
    readBatch: async <Queries extends readonly Compilable[]>(queries: Queries) =>
      // One connection for the whole batch, so that it does not exhaust the pool; the tenant is named once.
      (tenancy.isEnforced ? db.transaction() : db.connection()).execute(async (connection) => {
        const found: unknown[][] = [];
        for (const query of queries) found.push((await connection.executeQuery(query.compile())).rows);
        return found as BatchRows<Queries>;
      }),
    ...(vectors === undefined
      ? {}
      : { vectors: { ...vectors, maintain: (given) => withoutStatementLimit(() => vectors.maintain(given)) } }),
    readWithLag: (work) => (replica === undefined ? work() : replica.read(work)),
    ...(replica === undefined ? {} : { describeReplica: () => replica.describe() }),
    describeServer: () => describeServer(db, connections, options.poolSize ?? defaultPoolSize),
    describeVectors: () => describeVectors(db, { isOwner }),
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
        if (tenancy.isEnforced) return { complete: false };
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

async function disableSync(tx: Tx): Promise<void> {
  await sql`set local synchronous_commit = off`.execute(tx);
}

function createTransaction(
  tx: Tx,
  encode?: (vector: Uint8Array) => string,
): Omit<StoreTransaction, "clock" | "random"> {
  return {
    db: tx,
    append: (batch) => appendInTransaction(tx, batch),
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

/** The overloads of pg cannot be named from outside; this is the one in use. */
type Query = (text: unknown, parameters?: readonly unknown[]) => Promise<unknown>;

/** Whether the role of the connections is bound by row-level security, so that every transaction names its tenant. */
interface Tenancy {
  isEnforced: boolean;
}

/** The pool for Kysely, with every call reported to the tap, every tenant named and every error translated. */
function createTappedPool(
  connections: Connections,
  replica: Replica | undefined,
  options: OpenStoreOptions,
  tenancy: Tenancy,
) {
  return {
    async connect(): Promise<PostgresPoolClient> {
      const client = (await replica?.checkOut()) ?? (await connections.checkOut());
      // A connection may break between two statements; the next statement reports it.
      let broken = false;
      const onError = () => {
        broken = true;
      };
      client.on("error", onError);
      const send: Query = (text, parameters) => (client.query as unknown as Query)(text, parameters);
      const tenant = tenancy.isEnforced ? nameTenant() : undefined;
      let isInTransaction = false;
      /** Outside of a transaction a statement gets one of its own, because the tenant is named for a transaction. */
      const sendForTenant = async (call: StoreCall, text: unknown, parameters?: readonly unknown[]) => {
        if (tenant === undefined) return send(text, parameters);
        if (call === "begin") {
          isInTransaction = true;
          const begun = await send(text, parameters);
          await send(tenant.text, tenant.values);
          return begun;
        }
        if (isInTransaction) {
          isInTransaction = call !== "commit" && call !== "rollback";
          return send(text, parameters);
        }
        await send("begin");
        try {
          await send(tenant.text, tenant.values);
          const result = await send(text, parameters);
          await send("commit");
          return result;
        } catch (error) {
          await send("rollback").catch(() => {
            broken = true;
          });
          throw error;
        }
      };
      const query = async (text: unknown, parameters?: readonly unknown[]) => {
        const call = classifyCall(String(text));
        try {
          options.tap?.before?.(call);
          const result = await sendForTenant(call, text, parameters);
          options.tap?.after?.(call);
          return result;
        } catch (error) {
          // It is unknown whether a transaction is still open, so the connection is not reused.
          if (call === "begin" || call === "commit" || call === "rollback") broken = true;
          throw toPostgresError(error, options.database);
        }
      };
      const release = () => {
        client.release(broken);
        client.off("error", onError);
      };
      return { query: query as PostgresPoolClient["query"], release };
    },
    end: async () => undefined,
    options: {},
  };
}

function classifyCall(text: string): StoreCall {
  const verb = text.trimStart().slice(0, 8).toLowerCase();
  if (verb.startsWith("begin") || verb.startsWith("start")) return "begin";
  if (verb.startsWith("commit")) return "commit";
  if (verb.startsWith("rollback")) return "rollback";
  return verb.startsWith("select") ? "read" : "write";
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
