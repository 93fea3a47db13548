/** Searches that a replica answers, while it is there and not too far behind. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PostgresCluster, startPostgresCluster } from "../../scripts/postgres-cluster.ts";
import { startScratchPgbouncer } from "../../scripts/scratch-pgbouncer.ts";
import { systemClock, systemRandom } from "../../src/domain/index.ts";
import { openVarve, type Varve } from "../../src/index.ts";
import { Replica } from "../../src/store/postgres/replica.ts";
import { databaseKinds } from "../support/databases.ts";

describe.runIf(databaseKinds.includes("postgres"))("a replica", () => {
  const home = mkdtempSync(join(tmpdir(), "varve-replica-"));
  let cluster: PostgresCluster;
  let varve: Varve;
  const toUrl = (port: number) => `postgres://postgres@127.0.0.1:${port}/varve`;
  const onStandby = async (statement: string) => {
    const client = new Client({
      connectionString: toUrl(cluster.standby.port),
      application_name: "varve-replica-test",
    });
    await client.connect();
    const { rows } = await client.query<{ text: string }>(statement);
    await client.end();
    return rows.map(({ text }) => text);
  };
  const isReplayed = "select 1 as text where pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn()";
  const otherQueries =
    "select query as text from pg_stat_activity where datname = 'varve' and application_name <> 'varve-replica-test'";
  beforeAll(async () => {
    cluster = await startPostgresCluster("varve");
    varve = await openVarve({
      home,
      database: toUrl(cluster.primary.port),
      background: false,
      // The connections stay, so that what they read last can be seen.
      config: {
        databaseReplica: toUrl(cluster.standby.port),
        search: { embedder: "none" },
        store: { idleTimeoutMs: 3_600_000 },
      },
    });
  });
  afterAll(async () => {
    await varve?.close();
    await cluster?.stop();
    rmSync(home, { recursive: true, force: true });
  });

  test("answers searches that tolerate lag, and no others; without it the primary answers", async () => {
    const session = await varve.sessions.resolve({ key: "agent:main:replica:direct:one" });
    await varve.context.ingest(session, [{ id: "m1", role: "user", content: "The quokka sleeps in the harbour." }]);
    while ((await onStandby(isReplayed)).length === 0) await sleep(20);
    const find = async (mayLag: boolean) => (await varve.search.find("quokka", { mayLag })).results.length;
    expect(await find(false)).toBe(1);
    expect(await onStandby(otherQueries)).toEqual([]);
    expect(await find(true)).toBe(1);
    expect((await onStandby(otherQueries)).length).toBeGreaterThan(0);
    expect(await varve.checkDatabase()).toMatchObject({
      replica: { lagMs: expect.any(Number) },
      server: { pooler: "none", standbys: [{ state: "streaming", sync: "sync" }] },
    });

    const bouncer = await startScratchPgbouncer(cluster.primary.port);
    const pooled = await openVarve({ home, database: toUrl(bouncer.port), background: false });
    const { server } = await pooled.checkDatabase();
    expect(server?.pooler).toBe("transaction");
    expect(server?.advice).toContainEqual(expect.stringContaining("a pooler in transaction mode"));
    await pooled.close();
    await bouncer.stop();

    await cluster.killStandby();
    expect(await find(true)).toBe(1);
    await varve.context.ingest(session, [{ id: "m2", role: "user", content: "Another quokka came." }]);
    expect(await find(true)).toBe(2);
    expect(await varve.checkDatabase()).toMatchObject({ replica: { fault: expect.stringContaining("ECONNREFUSED") } });
  });
});

describe.runIf(databaseKinds.includes("postgres"))("a replica that is behind", () => {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    cluster = await startPostgresCluster("varve");
  });
  afterAll(() => cluster?.stop());

  test("is not read until it has caught up", async () => {
    const run = async (port: number, statement: string) => {
      const client = new Client({ connectionString: `postgres://postgres@127.0.0.1:${port}/varve` });
      await client.connect();
      const { rows } = await client.query<{ done: boolean }>(statement);
      await client.end();
      return rows[0]?.done;
    };
    const { primary, standby } = cluster;
    const options = { database: primary.url, clock: systemClock, random: systemRandom };
    const replica = new Replica(options, `postgres://postgres@127.0.0.1:${standby.port}/varve`, 0);
    const isCaughtUp = "select pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() as done";
    await run(primary.port, "create table before_the_pause (id int)");
    while (!(await run(standby.port, isCaughtUp))) await sleep(20);
    expect(await replica.describe()).toEqual({ lagMs: 0 });
    await run(standby.port, "select pg_wal_replay_pause()");
    await run(primary.port, "create table after_the_pause (id int)");
    while (await run(standby.port, isCaughtUp)) await sleep(20);
    expect(await replica.describe()).toMatchObject({ fault: expect.stringMatching(/it is \d+ ms behind/) });
    await run(standby.port, "select pg_wal_replay_resume()");
    while (!(await run(standby.port, isCaughtUp))) await sleep(20);
    expect(await replica.describe()).toEqual({ lagMs: 0 });
    await replica.end();
  });
});
