/** Connections to a server that does not answer, answers late, or became read-only. */
import { sql } from "kysely";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startPostgresCluster } from "../../scripts/postgres-cluster.ts";
import { startScratchPgbouncer } from "../../scripts/scratch-pgbouncer.ts";
import { freePort, startScratchPostgres } from "../../scripts/scratch-postgres.ts";
import { systemClock, systemRandom } from "../../src/domain/index.ts";
import { type OpenStoreOptions, openStore, type Store } from "../../src/store/index.ts";
import { databaseKinds, type ScratchDatabase, scratchDatabase } from "../support/databases.ts";
import { startTcpRelay, type TcpRelay } from "../support/tcp-relay.ts";

const open = (database: string, options: Partial<OpenStoreOptions> = {}): Promise<Store> =>
  openStore({ database, clock: systemClock, random: systemRandom, ...options });
const readMeta = (store: Store) => store.db.selectFrom("meta").selectAll().execute();
const writeMeta = (store: Store, name: string) =>
  store.transaction(({ db }) => db.insertInto("meta").values({ name, value: "1" }).execute());

describe.runIf(databaseKinds.includes("postgres"))("a server", () => {
  let scratch: ScratchDatabase;
  const relays: TcpRelay[] = [];
  const relay = async (at = 0): Promise<{ relay: TcpRelay; host: string }> => {
    const { hostname, port } = new URL(scratch.database);
    const started = await startTcpRelay({ host: hostname, port: Number(port || 5432) }, at);
    relays.push(started);
    return { relay: started, host: `127.0.0.1:${started.port}` };
  };
  /** The address of the database over other hosts, with the default limit for connections. */
  const over = (hosts: string): string => {
    const { username, pathname, password } = new URL(scratch.database);
    return `postgres://${username}${password === "" ? "" : `:${password}`}@${hosts}${pathname}`;
  };
  beforeAll(async () => {
    scratch = await scratchDatabase("postgres");
    await (await open(scratch.database)).close();
  });
  afterAll(async () => {
    for (const one of relays) await one.close();
    await scratch?.drop();
  });

  test("that goes silent is given up, and another host is used by the next call", async () => {
    const first = await relay();
    const port = await freePort();
    const store = await open(over(`${first.host},127.0.0.1:${port}`), { silenceMs: 100, connectTimeoutMs: 2_000 });
    // The second host is there only now, so the first one is in use.
    await relay(port);
    first.relay.goSilent();
    const unanswered = expect.objectContaining({ code: "STORE_UNREACHABLE" });
    await expect(readMeta(store)).rejects.toEqual(unanswered);
    expect(await readMeta(store)).not.toEqual([]);
    await store.close();
  });

  test("that goes silent holds nobody, also when it is the only one, and neither does closing", async () => {
    const only = await relay();
    const store = await open(over(only.host), { silenceMs: 100, connectTimeoutMs: 1_000, reconnectMs: 0 });
    only.relay.goSilent();
    await expect(readMeta(store)).rejects.toMatchObject({
      code: "STORE_UNREACHABLE",
      message: expect.stringContaining("did not answer a statement for 100 ms, nor a new connection for 1000 ms"),
    });
    await expect(readMeta(store)).rejects.toMatchObject({ code: "STORE_UNREACHABLE" });
    await store.close();
  });

  test("that is only slow is waited for", async () => {
    const store = await open(scratch.database.replace(/[?&]connect_timeout=0/, ""), {
      silenceMs: 20,
      connectTimeoutMs: 600_000,
    });
    const { rows } = await sql<{ done: boolean }>`select true as done from pg_sleep(0.5)`.execute(store.db);
    expect(rows).toEqual([{ done: true }]);
    await store.close();
  });

  test("whose statement takes too long loses that connection and no other", async () => {
    const store = await open(scratch.database, { statementTimeoutMs: 300, poolSize: 2 });
    await expect(sql`select pg_sleep(3600)`.execute(store.db)).rejects.toMatchObject({
      code: "STORE_UNREACHABLE",
      message: expect.stringContaining("store.statementTimeoutMs"),
    });
    expect(await readMeta(store)).not.toEqual([]);
    // Its transaction is over, and its connection is not in the pool any more.
    const { rows } = await sql<{ name: string }>`select 1 from pg_stat_activity
      where datname = current_database() and state = 'idle in transaction'`.execute(store.db);
    expect(rows).toEqual([]);
    await store.close();
  });

  test("that cannot be reached is named, without the password", async () => {
    const opened = open("postgres://ada:secret@127.0.0.1:1,127.0.0.1:2/varve");
    await expect(opened).rejects.toMatchObject({ code: "STORE_UNREACHABLE", exitCode: 5 });
    await expect(opened).rejects.toThrow(/127\.0\.0\.1:1: .*ECONNREFUSED.*127\.0\.0\.1:2: .*ECONNREFUSED/);
    await expect(opened).rejects.not.toThrow(/secret/);
    await expect(open("postgres://a:x,b/varve")).rejects.toMatchObject({ code: "BAD_CONFIG" });
  });
});

test.runIf(databaseKinds.includes("postgres"))(
  "a primary that became read-only is left for the new one, and the write is made there once",
  async () => {
    const cluster = await startPostgresCluster("varve");
    const store = await open(cluster.address("varve"));
    await writeMeta(store, "before");
    const admin = new Client({ connectionString: cluster.primary.url });
    await admin.connect();
    await admin.query("alter system set default_transaction_read_only = on");
    await admin.query("select pg_reload_conf()");
    // The connections of the store are the last to hear of it.
    const isReadOnly = async () => (await admin.query("show default_transaction_read_only")).rows[0];
    while ((await isReadOnly())?.default_transaction_read_only !== "on");
    await admin.end();
    await cluster.promoteStandby();
    await writeMeta(store, "after");
    const names = (await readMeta(store)).map(({ name }) => name);
    expect(names.filter((name) => name === "before" || name === "after").sort()).toEqual(["after", "before"]);
    const { rows } = await sql<{ port: string }>`select current_setting('port') as port`.execute(store.db);
    expect(Number(rows[0]?.port)).toBe(cluster.standby.port);
    await store.close();
    await cluster.stop();
  },
);

describe.runIf(databaseKinds.includes("postgres"))("a server behind a pooler", () => {
  const over = (port: number, database: string): string => `postgres://postgres@127.0.0.1:${port}/${database}`;

  test("that goes silent is given up, although the pooler answers, and the next server is used", async () => {
    const cluster = await startPostgresCluster("varve");
    const bouncer = await startScratchPgbouncer(cluster.primary.port);
    try {
      await (await open(cluster.address("varve"))).close();
      const store = await open(over(bouncer.port, "varve"), { silenceMs: 100, connectTimeoutMs: 1_000 });
      await writeMeta(store, "before");
      // Where the server is was asked when the store was opened, and is known some round trips later.
      for (let reads = 0; reads < 50; reads += 1) await readMeta(store);
      cluster.freezePrimary();
      await expect(readMeta(store)).rejects.toMatchObject({
        code: "STORE_UNREACHABLE",
        message: expect.stringContaining(
          `127.0.0.1:${cluster.primary.port}, the server behind 127.0.0.1:${bouncer.port}`,
        ),
      });
      await cluster.promoteStandby();
      bouncer.moveTo(cluster.standby.port);
      // The pooler learns of its new server a moment later.
      const canRead = () =>
        readMeta(store).then(
          () => true,
          () => false,
        );
      await expect.poll(canRead).toBe(true);
      await writeMeta(store, "after");
      const names = (await readMeta(store)).map(({ name }) => name);
      expect(names.filter((name) => name === "before" || name === "after").sort()).toEqual(["after", "before"]);
      await store.close();
    } finally {
      await bouncer.stop();
      await cluster.stop();
    }
  });

  test("that is only slow is waited for, also when all connections of the pooler are in use", async () => {
    const server = await startScratchPostgres();
    const bouncer = await startScratchPgbouncer(server.port, { poolSize: 1 });
    try {
      await (await open(over(server.port, "postgres"))).close();
      const store = await open(over(bouncer.port, "postgres"), { silenceMs: 20, connectTimeoutMs: 600_000 });
      // Longer than the limit for the answer of a new connection, which the pooler does not serve meanwhile.
      const slow = sql<{ done: boolean }>`select true as done from pg_sleep(5)`.execute(store.db);
      const [{ rows }, waited] = await Promise.all([slow, readMeta(store)]);
      expect(rows).toEqual([{ done: true }]);
      expect(waited).not.toEqual([]);
      await store.close();
    } finally {
      await bouncer.stop();
      await server.stop();
    }
  });
});
