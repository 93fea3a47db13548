/** Several statements in one round trip: all or nothing, and the connection can be used after a failure. */
import { sql } from "kysely";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock, systemRandom } from "../../src/domain/index.ts";
import { attachStatement, openStore, type Store } from "../../src/store/index.ts";
import { databaseKinds, type ScratchDatabase, scratchDatabase } from "../support/databases.ts";

const agent = "main";

describe.each(databaseKinds.filter((kind) => kind === "postgres"))("flights of statements on %s", () => {
  let scratch: ScratchDatabase;
  let store: Store;
  let client: Client;
  beforeAll(async () => {
    scratch = await scratchDatabase("postgres");
    // One connection: a failure that left it unusable would fail whatever comes next.
    store = await openStore({ database: scratch.database, clock: systemClock, random: systemRandom, poolSize: 1 });
    // As the owner of the tables: a role that row-level security binds may not change them.
    const owner = new URL(scratch.database);
    owner.username = new URL(process.env.VARVE_TEST_POSTGRES_URL ?? scratch.database).username;
    client = new Client({ connectionString: owner.href });
    await client.connect();
  });
  afterAll(async () => {
    await client?.end();
    await store?.close();
    await scratch?.drop();
  });

  const insertLease = (name: string) => store.db.insertInto("leases").values({ name, owner: "o", until: 1, fence: 1 });
  const findLease = (name: string) => store.db.selectFrom("leases").select("name").where("name", "=", name).execute();
  const entry = (id: string) => ({
    id,
    kind: "message",
    time: 1,
    tokens: 3,
    payload: `{"id":"${id}"}`,
    words: "walrus",
  });
  const batch = (conversation: number, ids: string[]) => ({
    ...{ agent, conversation, transcript: conversation, now: 10 },
    entries: ids.map((id) => ({ ...entry(id), countsAsMessage: true })),
  });
  const newConversation = (id: number) =>
    store.db
      .insertInto("conversations")
      .values({
        ...{ agent, id, key: `k${id}`, audience: null, created_at: 1, updated_at: 1 },
        ...{ branch_count: 0, entry_count: 0, message_count: 0, tokens: 0 },
      })
      .execute();
  const read = (id: number) =>
    store.db.selectFrom("conversations").selectAll().where("agent", "=", agent).where("id", "=", id).executeTakeFirst();

  test("a failure in the middle undoes all of a batch, and the next one succeeds, often enough to use names", async () => {
    for (let round = 0; round < 6; round += 1) {
      const [first, last] = [`first ${round}`, `last ${round}`];
      await store.writeBatch([insertLease(`taken ${round}`)]);
      await expect(
        store.writeBatch([insertLease(first), insertLease(`taken ${round}`), insertLease(last)]),
      ).rejects.toMatchObject({ code: "CONFLICT" });
      expect([...(await findLease(first)), ...(await findLease(last))]).toEqual([]);
      const written = await store.writeBatch([insertLease(first), insertLease(last)]);
      expect(written.map(({ changes }) => changes)).toEqual([1, 1]);
    }
  });

  test("a batch of reads gives each query its rows, types and order", async () => {
    await newConversation(70);
    await store.append(batch(70, ["a", "b", "c"]));
    const ids = store.db.selectFrom("entries").select(["id", "time", "payload"]).where("agent", "=", agent);
    const of = ids.where("conversation", "=", 70);
    const [down, none, up] = await store.readBatch([
      of.orderBy("seq", "desc"),
      ids.where("conversation", "=", -1),
      of.orderBy("seq").limit(1),
    ]);
    expect(down.map(({ id }) => id)).toEqual(["c", "b", "a"]);
    expect(none).toEqual([]);
    expect(up).toEqual([{ id: "a", time: 1, payload: '{"id":"a"}' }]);
  });

  test("an append has the same effect as one or as several statements", async () => {
    await newConversation(80);
    await newConversation(81);
    for (const ids of [["a"], ["b", "c"], ["d"]]) await store.append(batch(80, ids));
    // A parent that is named asks for a decision, so it is appended statement by statement.
    for (const ids of [["a"], ["b", "c"], ["d"]]) {
      const { entries, ...rest } = batch(81, ids);
      const parent = { a: null, b: "a", c: "b", d: "c" } as Record<string, string | null>;
      await store.append({ ...rest, entries: entries.map((one) => ({ ...one, parentId: parent[one.id] })) });
    }
    const strip = (row: Awaited<ReturnType<typeof read>>) => ({ ...row, id: 0, key: "", head_seq: 0 });
    expect(strip(await read(80))).toEqual(strip(await read(81)));
    expect(await read(80)).toMatchObject({ entry_count: 4, message_count: 4, tokens: 12, branch_count: 1 });
    expect((await store.matchText({ agent, conversations: [80], words: ["walrus"], limit: 9 })).hits).toHaveLength(4);
  });

  test("a repeated key, a known id and a branch are recognised", async () => {
    await newConversation(90);
    const first = await store.append({ ...batch(90, ["a", "b"]), idempotencyKey: "turn 1" });
    expect(first).toMatchObject({ appended: 2, duplicates: 0 });
    const again = await store.append({ ...batch(90, ["x"]), idempotencyKey: "turn 1" });
    expect(again).toEqual({ ...first, repeated: true });
    expect(await store.append(batch(90, ["b", "c"]))).toMatchObject({ appended: 1, duplicates: 1 });
    const { entries, ...rest } = batch(90, ["d"]);
    await store.append({ ...rest, entries: entries.map((one) => ({ ...one, parentId: "a" })) });
    expect(await store.append(batch(90, ["e"]))).toMatchObject({ appended: 1 });
    expect(await read(90)).toMatchObject({ entry_count: 5, branch_count: 2, head_branch: 2 });
  });

  test("an attached statement that changes nothing undoes the append; the same one with effect is part of it", async () => {
    await newConversation(95);
    await store.append(batch(95, ["a"]));
    await store.writeBatch([insertLease("held")]);
    const move = (name: string, until: number) =>
      attachStatement(store.db.updateTable("leases").set({ until }).where("name", "=", name), true);
    const lost = { ...batch(95, ["b"]), attached: [move("held", 5), move("nobody's", 5)] };
    await expect(store.append(lost)).rejects.toMatchObject({ code: "REFUSED" });
    expect(await read(95)).toMatchObject({ entry_count: 1 });
    await store.append({ ...batch(95, ["b"]), attached: [move("held", 7)] });
    expect(await read(95)).toMatchObject({ entry_count: 2 });
    const held = await store.db.selectFrom("leases").select("until").where("name", "=", "held").execute();
    expect(held).toEqual([{ until: 7 }]);
  });

  test("a connection that the server ends is replaced; a table that another program changes is read again", async () => {
    for (let round = 0; round < 5; round += 1) await findLease("held");
    await client.query("alter table leases add column added_later text");
    const all = () => store.db.selectFrom("leases").selectAll().where("name", "=", "held").execute();
    for (let round = 0; round < 5; round += 1) expect(await all()).toHaveLength(1);
    await client.query("alter table leases add column added_last text");
    expect(await all()).toMatchObject([{ name: "held", added_last: null }]);
    await client.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`);
    await findLease("held").catch(() => undefined);
    expect(await findLease("held")).toHaveLength(1);
    expect(await store.append(batch(95, ["z"]))).toMatchObject({ appended: 1 });
  });

  test("names that the server does not know are given up, and nothing fails", async () => {
    for (let round = 0; round < 5; round += 1) await findLease("held");
    // As a pooler does that gives the next transaction to another connection.
    await sql`deallocate all`.execute(store.db);
    expect(await findLease("held")).toHaveLength(1);
    expect(await store.append(batch(95, ["last"]))).toMatchObject({ appended: 1 });
  });
});
