/** Row-level security on PostgreSQL: a role that does not own the tables sees only the tenant that it names. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runWithAccess } from "../../src/authorization/index.ts";
import { systemClock, systemRandom } from "../../src/domain/index.ts";
import { openVarve, type Varve } from "../../src/index.ts";
import type { Store } from "../../src/store/index.ts";
import { migrations } from "../../src/store/migrations/index.ts";
import { openPostgres } from "../../src/store/postgres/open.ts";
import { findPolicyFaults, openTables } from "../../src/store/postgres/row-security.ts";
import { bindToPolicies, protectedKinds, type ScratchDatabase, scratchDatabase } from "../support/databases.ts";

describe.runIf(protectedKinds.length > 0)("row-level security on postgres", () => {
  let scratch: ScratchDatabase;
  let home: string;
  let bound: string;
  let varve: Varve;
  let store: Store;
  let client: Client;
  beforeAll(async () => {
    scratch = await scratchDatabase("postgres");
    home = mkdtempSync(join(tmpdir(), "varve-home-"));
    const url = new URL(scratch.database);
    if (url.username === "postgres") await bindToPolicies(url);
    bound = url.href;
    varve = await openVarve({ home, database: bound, config: { search: { embedder: "none" } }, background: false });
    for (const agent of ["ann", "bob"]) {
      const session = await varve.sessions.resolve({ key: `agent:${agent}:main` });
      await varve.context.ingest(session, [
        { role: "user", content: `The secret of ${agent} is a walrus.` },
        { role: "user", content: `A long paste of ${agent}. `.repeat(20_000) },
      ]);
      await varve.memory.add({ agent, text: `The walrus of ${agent} is called Otto.`, force: true });
      await varve.context.compact(session);
    }
    store = await openPostgres({ database: bound, clock: systemClock, random: systemRandom }, migrations);
    client = new Client({ connectionString: bound });
    await client.connect();
  });
  afterAll(async () => {
    await client?.end();
    await store?.close();
    await varve?.close();
    await scratch?.drop();
    rmSync(home, { recursive: true, force: true });
  });

  const listTables = async (): Promise<string[]> => {
    const { rows } = await client.query<{ name: string }>(
      "select table_name as name from information_schema.tables where table_schema = 'public'",
    );
    return rows.map((row) => row.name).filter((name) => !openTables.has(name));
  };
  const count = async (table: string): Promise<number> =>
    Number((await client.query<{ n: string }>(`select count(*) as n from "${table}"`)).rows[0]?.n);

  it("shows nothing of any table to a connection that names no tenant", async () => {
    for (const table of await listTables()) expect(await count(table), table).toBe(0);
    await expect(client.query("insert into memory_files values ('x')")).rejects.toThrow();
  });

  it("shows one agent to a statement that forgets to ask for one", async () => {
    const entries = await runWithAccess({ agents: ["ann"] }, () =>
      store.db.selectFrom("entries").select(["agent", "payload"]).execute(),
    );
    expect(entries.length).toBeGreaterThan(0);
    expect(new Set(entries.map((row) => row.agent))).toEqual(new Set(["ann"]));
    const all = await store.db.selectFrom("entries").select("agent").distinct().execute();
    expect(all.map((row) => row.agent).sort()).toEqual(["ann", "bob"]);
    const inTransaction = await runWithAccess({ agents: ["bob"] }, () =>
      store.transaction((tx) => tx.db.selectFrom("conversations").select("agent").execute()),
    );
    expect(new Set(inTransaction.map((row) => row.agent))).toEqual(new Set(["bob"]));
  });

  it("lets nothing be written for another agent", async () => {
    const write = () => store.db.updateTable("conversations").set({ archived_at: 1 }).execute();
    const [result] = await runWithAccess({ agents: ["nobody"] }, write);
    expect(Number(result?.numUpdatedRows)).toBe(0);
    const insert = () =>
      store.db
        .insertInto("checkpoints")
        .values({ agent: "bob", conversation: 1, name: "x", time: 1, data: "{}" })
        .execute();
    await expect(runWithAccess({ agents: ["ann"] }, insert)).rejects.toThrow(/row-level security/);
  });

  it("shows the memories of a scope, with what belongs to them", async () => {
    const access = { agents: ["ann"], scopes: ["agent:ann"] };
    const read = async (table: "memories" | "memory_support") =>
      (await runWithAccess(access, () => store.db.selectFrom(table).selectAll().execute())).length;
    expect(await read("memories")).toBe(1);
    expect(await read("memory_support")).toBe(1);
    const none = await runWithAccess({ scopes: [] }, () => store.db.selectFrom("memories").selectAll().execute());
    expect(none).toEqual([]);
  });

  it("does not narrow what others see by what one request has read", async () => {
    const find = async (agent: string) => (await varve.search.find("walrus", { agent })).results.length;
    const limited = await runWithAccess({ agents: ["ann"], scopes: ["agent:ann"] }, () => find("ann"));
    expect(limited).toBeGreaterThan(0);
    expect(await runWithAccess({ agents: ["ann"], scopes: ["agent:ann"] }, () => find("bob"))).toBe(0);
    expect(await find("bob")).toBe(limited);
    expect(await find("ann")).toBe(limited);
  });

  it("protects every table, or says what does not", async () => {
    expect(await findPolicyFaults(store.db)).toEqual([]);
    const owner = await openPostgres(
      { database: scratch.database, clock: systemClock, random: systemRandom },
      migrations,
    );
    const faults = await findPolicyFaults(owner.db);
    await owner.close();
    if (new URL(scratch.database).username === "postgres") expect(faults.join()).toMatch(/superuser/);
  });
});
