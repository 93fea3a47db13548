import { once } from "node:events";
import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemRandom } from "../../src/domain/index.ts";
import { openVarve, restoreBackup } from "../../src/index.ts";
import { type JobHandler, JobWorker } from "../../src/jobs/index.ts";
import {
  attachStatement,
  dropLease,
  enqueueJob,
  leaseJob,
  type Migration,
  migrations,
  openStore,
  queryWords,
  type Store,
  takeLease,
} from "../../src/store/index.ts";
import { databaseKinds, type ScratchDatabase, scratchDatabase } from "../support/databases.ts";
import { HandClock } from "../support/engines.ts";

describe.each(databaseKinds)("the store on %s", (kind) => {
  let scratch: ScratchDatabase;
  let store: Store;
  const clock = new HandClock();
  const folder = mkdtempSync(join(tmpdir(), "varve-store-"));
  const options = () => ({ database: scratch.database, clock, random: systemRandom, backupFolder: folder });
  beforeAll(async () => {
    scratch = await scratchDatabase(kind);
    store = await openStore(options());
  });
  afterAll(async () => {
    await store.close();
    await scratch.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("a lease has one owner until it ends, and a new owner a new fence", async () => {
    const first = await takeLease(store, "gateway", "a", clock.now(), 1000);
    expect(first).toMatchObject({ fence: 1 });
    expect(await takeLease(store, "gateway", "b", clock.now(), 1000)).toBeUndefined();
    expect(await takeLease(store, "gateway", "a", clock.now() + 500, 1000)).toMatchObject({ fence: 1 });
    const second = await takeLease(store, "gateway", "b", clock.now() + 1500, 1000);
    expect(second).toMatchObject({ owner: "b", fence: 2 });
    if (first) await dropLease(store, first);
    expect(await takeLease(store, "gateway", "c", clock.now() + 1600, 1000)).toBeUndefined();
  });

  test("vectors are read in pages, the newest first, without those of others or of another length", async () => {
    const row = (seq: number, more: { agent?: string; conversation?: number; vector?: Uint8Array } = {}) => ({
      ...{ agent: "stones", space: 1, seq, conversation: 1, time: 10 * seq, vector: Uint8Array.of(seq, 256 - seq) },
      ...more,
    });
    const others = [row(4, { agent: "others" }), row(5, { vector: Uint8Array.of(1) }), row(6, { conversation: 2 })];
    await store.transaction(async ({ db }) => {
      await db
        .insertInto("entry_vectors")
        .values([row(1), row(2), row(3), ...others])
        .execute();
    });
    const query = { agent: "stones", space: 1, dimensions: 2, after: 1, upTo: 100, limit: 2 };
    const page = await store.readVectors(query);
    expect([...page.seqs]).toEqual([6, 3]);
    expect([...page.conversations]).toEqual([2, 1]);
    expect([...page.times]).toEqual([60, 30]);
    expect([...page.vectors]).toEqual([6, -6, 3, -3]);
    expect([...(await store.readVectors({ ...query, upTo: 2 })).seqs]).toEqual([2]);
    expect([...(await store.readVectors({ ...query, conversation: 1 })).seqs]).toEqual([3, 2]);
    expect([...(await store.readVectors({ ...query, space: 2 })).vectors]).toEqual([]);
  });

  test("jobs are done once, retried after a failure, taken over after a crash, and one a key", async () => {
    const job = (id: string, key: string) => ({
      agent: "main",
      id,
      kind: "count",
      key,
      payload: JSON.stringify({ id }),
      runAt: clock.now(),
    });
    await store.transaction(async (tx) => {
      for (const id of ["1", "2", "3"]) await enqueueJob(tx, job(id, `key-${id}`), clock.now());
      await enqueueJob(tx, job("4", "key-1"), clock.now());
    });
    const done: string[] = [];
    let failures = 1;
    const worker = () =>
      new JobWorker({
        store,
        handlers: {
          count: async ({ key }) => {
            if (key === "key-2" && failures-- > 0) throw new Error("not yet");
            done.push(key);
          },
        },
      });
    const [a, b] = [worker(), worker()];
    for (let round = 0; round < 6; round += 1) {
      await Promise.all([a.workOnce(), b.workOnce()]);
      clock.advance(1000);
    }
    expect(done.sort()).toEqual(["key-1", "key-2", "key-3"]);
    await store.transaction((tx) => enqueueJob(tx, job("5", "key-5"), clock.now()));
    expect(await leaseJob(store, ["count"], "dead", clock.now(), 5000)).toMatchObject({ id: "5" });
    expect(await a.workOnce()).toBe(false);
    clock.advance(6000);
    expect(await a.workOnce()).toBe(true);
    expect(done).toContain("key-5");
  });

  test("a job that always fails is set aside with its error, not lost", async () => {
    await store.transaction((tx) =>
      enqueueJob(
        tx,
        { agent: "main", id: "bad", kind: "bad", key: "bad", payload: "null", runAt: clock.now() },
        clock.now(),
      ),
    );
    const worker = new JobWorker({
      store,
      attemptsMax: 3,
      handlers: { bad: () => Promise.reject(new Error("never")) },
    });
    for (let round = 0; round < 5; round += 1) {
      await worker.workOnce();
      clock.advance(600_000);
    }
    const row = await store.db.selectFrom("jobs").selectAll().where("kind", "=", "bad").executeTakeFirst();
    expect(row).toMatchObject({ state: "failed", attempts: 3, last_error: "never" });
  });

  test("a job that its worker had no time for is given back, and nothing is held against it", async () => {
    await store.transaction((tx) =>
      enqueueJob(
        tx,
        { agent: "main", id: "long", kind: "long", key: "long", payload: "null", runAt: clock.now() },
        clock.now(),
      ),
    );
    const errors: unknown[] = [];
    const worker = (long: JobHandler) =>
      new JobWorker({
        store,
        handlers: { long },
        onError: (_, error) => errors.push(error),
      });
    const begun = Promise.withResolvers<void>();
    const stopped = worker(async (_, signal) => {
      begun.resolve();
      await once(signal, "abort");
      signal.throwIfAborted();
    });
    stopped.start();
    await begun.promise;
    await stopped.stop();
    const row = await store.db.selectFrom("jobs").selectAll().where("kind", "=", "long").executeTakeFirst();
    expect(row).toMatchObject({ state: "waiting", attempts: 0, last_error: null, lease_owner: null });
    let done = 0;
    expect(
      await worker(async () => {
        done += 1;
      }).workOnce(),
    ).toBe(true);
    expect([done, errors]).toEqual([1, []]);
  });

  test("words are found with their stems, in scripts without spaces, and syntax is only text", async () => {
    const varve = await openVarve({ home: folder, database: scratch.database });
    const session = await varve.sessions.resolve({ key: "agent:main:test:direct:words" });
    const texts = [
      "My flights leave on Friday",
      "明天去北京旅行",
      "今日は東京に行きます",
      'drop table "x" AND NOT OR NEAR(a b)',
      "x".repeat(3_000_000),
    ];
    const { entries } = await varve.context.ingest(
      session,
      texts.map((content, index) => ({ id: `w${index}`, role: "user" as const, content })),
    );
    const found = async (query: string) =>
      (await store.matchText({ agent: "main", words: queryWords(query), limit: 10 })).hits.map((hit) =>
        entries.findIndex((entry) => entry.seq === hit.seq),
      );
    expect(await found("flight friday")).toEqual([0]);
    expect(await found("北京")).toEqual([1]);
    expect(await found("京北")).toEqual([]);
    expect(await found("東京")).toEqual([2]);
    expect(await found('NEAR(a b) "drop table')).toEqual([3]);
    expect(await found('" * ( ^ :')).toEqual([]);
    await store.transaction(({ db }) =>
      db.insertInto("meta").values({ name: "text_rebuild", value: "begun" }).execute(),
    );
    expect((await varve.doctor()).findings.flatMap((finding) => finding.faults).join()).toContain(
      "rebuild was interrupted",
    );
    expect((await varve.doctor({ fix: true })).healthy).toBe(true);
    expect(await found("flight friday")).toEqual([0]);
    expect(await found("北京")).toEqual([1]);
    await varve.close();
  });

  test("a batch with a name is written once, and with what it depends on or not at all", async () => {
    const values = { created_at: 0, updated_at: 0, branch_count: 0, entry_count: 0, message_count: 0, tokens: 0 };
    await store.transaction(({ db }) =>
      db
        .insertInto("conversations")
        .values({ agent: "once", id: 9_000, key: "k", ...values })
        .execute(),
    );
    const ref = { agent: "once", conversation: 9_000, transcript: 1, now: 1 };
    const entry = (id: string) => ({
      ...{ id, kind: "user", time: 1, tokens: 2, payload: "{}", words: "", countsAsMessage: true },
    });
    const rename = (from: string, to: string) =>
      attachStatement(
        store.db
          .updateTable("conversations")
          .set({ key: to })
          .where("agent", "=", "once")
          .where("id", "=", 9_000)
          .where("key", "=", from),
        true,
      );
    const write = (id: string, also = rename("k", "l")) =>
      store.append({ ...ref, entries: [entry(id)], idempotencyKey: "turn", attached: [also] });
    const keyAndEntries = async () => {
      const rows = await store.readBatch([
        store.db.selectFrom("conversations").select("key").where("agent", "=", "once").where("id", "=", 9_000),
        store.db.selectFrom("entries").select("id").where("agent", "=", "once").where("conversation", "=", 9_000),
      ]);
      return { key: rows[0][0]?.key, entries: rows[1].map((row) => row.id) };
    };
    await expect(write("a", rename("nothing", "l"))).rejects.toMatchObject({ code: "REFUSED" });
    expect(await keyAndEntries()).toEqual({ key: "k", entries: [] });
    // At once, so that they share a transaction where an engine does that.
    const [refused, first, second] = await Promise.allSettled([
      store.append({ ...ref, entries: [entry("x")], attached: [rename("nothing", "l")] }),
      write("a"),
      write("b", rename("never asked", "m")),
    ]);
    expect(refused).toMatchObject({ status: "rejected", reason: { code: "REFUSED" } });
    expect(first).toMatchObject({ value: { appended: 1, entries: [{ id: "a", status: "appended" }] } });
    expect(second).toMatchObject({ value: { appended: 1, entries: [{ id: "a" }], repeated: true } });
    expect(await keyAndEntries()).toEqual({ key: "l", entries: ["a"] });
  });

  test("a transaction that throws leaves nothing, and the next one works", async () => {
    const put = (name: string, fail: boolean) =>
      store.transaction(async ({ db }) => {
        await db.insertInto("meta").values({ name, value: "1" }).execute();
        if (fail) throw new Error("no");
      });
    await expect(put("half", true)).rejects.toThrow("no");
    await put("whole", false);
    const rows = await store.db.selectFrom("meta").select("name").where("name", "in", ["half", "whole"]).execute();
    expect(rows.map((row) => row.name)).toEqual(["whole"]);
  });

  test("a schema change is made once, after a backup; a failed one changes nothing; a newer database is refused", async () => {
    const next: Migration = {
      version: migrations.length + 1,
      name: "test",
      up: async (db) => {
        await sql`create table extra (id text)`.execute(db);
      },
    };
    const broken: Migration = {
      ...next,
      up: async (db) => {
        await sql`create table extra (id text)`.execute(db);
        await sql`insert into nowhere values (1)`.execute(db);
      },
    };
    await expect(openStore(options(), [...migrations, broken])).rejects.toMatchObject({ code: "MIGRATION_FAILED" });
    await expect(sql`select * from extra`.execute(store.db)).rejects.toThrow();
    const before = readdirSync(folder).filter((name) => name.startsWith("before-schema")).length;
    const opened = await Promise.all([1, 2, 3].map(() => openStore(options(), [...migrations, next])));
    for (const one of opened) await one.close();
    expect(readdirSync(folder).filter((name) => name.startsWith("before-schema")).length).toBeGreaterThan(before);
    await expect(openStore(options())).rejects.toMatchObject({ code: "SCHEMA_NEWER", exitCode: 4 });
  });
});

describe.each(databaseKinds)("backups from %s", (kind) => {
  const folder = mkdtempSync(join(tmpdir(), "varve-backup-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("go back into an SQLite home, and portable ones into either engine", async () => {
    const scratch = await scratchDatabase(kind);
    const varve = await openVarve({ home: join(folder, "home"), database: scratch.database });
    const session = await varve.sessions.resolve({ key: "agent:main:test:direct:kept" });
    await varve.context.ingest(session, [{ id: "1", role: "user", content: "keep me \u0000" }]);
    const plain = await varve.backup();
    const portable = await varve.backup(join(folder, "all.jsonl.gz"), { portable: true });
    await expect(varve.backup(portable.file)).rejects.toMatchObject({ code: "CONFLICT" });
    await varve.context.ingest(session, [{ id: "2", role: "user", content: "after the backup" }]);
    await varve.close();

    for (const target of databaseKinds) {
      const other = await scratchDatabase(target);
      for (const file of target === "sqlite" ? [plain.file, portable.file] : [portable.file]) {
        const options = { home: join(folder, `restored-${target}`), database: other.database };
        const result = await restoreBackup(options, file);
        expect(result.messages).toBe(1);
        const restored = await openVarve(options);
        const again = await restored.sessions.get(session.key);
        const page = await restored.transcripts.read(again);
        expect(page.entries.at(-1)).toMatchObject({ message: { content: "keep me \u0000" } });
        await restored.context.ingest(again, [{ id: "3", role: "user", content: "goes on" }]);
        expect((await restored.doctor()).findings.flatMap((finding) => finding.faults)).toEqual([]);
        await restored.close();
      }
      await other.drop();
    }
    await scratch.drop();
  });

  test.runIf(kind === "sqlite")("that are damaged or missing are refused, and the database stays", async () => {
    const home = join(folder, "stays");
    const varve = await openVarve({ home });
    const backup = await varve.backup();
    await varve.close();
    const damaged = join(folder, "damaged.db");
    copyFileSync(backup.file, damaged);
    writeFileSync(damaged, "not a database at all, but long enough to be read as one".repeat(100));
    await expect(restoreBackup({ home }, damaged)).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    await expect(restoreBackup({ home }, join(folder, "none.db"))).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
    expect(existsSync(join(home, "varve.db"))).toBe(true);
  });
});
