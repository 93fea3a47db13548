/** A running system whose gateways are upgraded one by one: old and new ones share a database whose new schema only adds. */
import { sql } from "kysely";
import { expect, test } from "vitest";
import { systemRandom } from "../../src/domain/index.ts";
import { type Migration, migrations, openStore } from "../../src/store/index.ts";
import { setStage, sha256 } from "../e2e/gateway-stage.ts";
import { Counter } from "../support/counter.ts";
import { onEveryEngine } from "../support/engines.ts";

const token = "the-token-of-this-test";
const version = (migrations.at(-1)?.version ?? 0) + 1;

/** Adds to tables that every turn reads and writes. */
const added: Migration = {
  version,
  name: "columns and a table of a later version",
  isAdditive: true,
  async up(db) {
    for (const table of ["sessions", "inbox", "entries", "conversations"]) {
      await sql`alter table ${sql.table(table)} add column later_note text`.execute(db);
      await sql`alter table ${sql.table(table)} add column later_count bigint not null default 0`.execute(db);
    }
    await sql`create table later_notes (agent text not null, id text not null, primary key (agent, id))`.execute(db);
  },
};
const changed: Migration = {
  version: version + 1,
  name: "a change that earlier versions do not know",
  up: async (db) => {
    await sql`alter table later_notes add column text text`.execute(db);
  },
};

onEveryEngine("a rolling upgrade", (get) => {
  test("goes on serving while a newer program adds to the schema, and an older one can still be started", async () => {
    const { database, clock } = get();
    const old = await setStage(
      {
        requestsPerMinute: 100_000,
        tokens: [{ name: "all", token: sha256(token), rights: ["read", "write", "admin"] }],
      },
      { config: { database, search: { embedder: "none" }, turn: { runner: "offline", debounceMs: 0 } } },
    );
    const turns = new Counter();
    let isOver = false;
    const talk = async (person: number): Promise<void> => {
      for (let turn = 0; !isOver; turn += 1) {
        const body = { id: `${person}-${turn}`, session: `agent:main:upgrade:direct:p${person}`, text: "Hello." };
        const answer = await old.send("POST", "/api/turns", { token, body });
        expect(answer.status, answer.text).toBe(200);
        expect(answer.json).toMatchObject({ status: "replied" });
        turns.add();
      }
    };
    const talks = [0, 1, 2].map(talk);
    await turns.until(5);
    const open = (known: readonly Migration[]) => openStore({ database, clock, random: systemRandom }, known);
    const newer = await open([...migrations, added]);
    await turns.until(turns.count + 10);
    // A gateway of the old version that is started again, or one more of them.
    const older = await open(migrations);
    const names = await older.db.selectFrom("sessions").select("key").execute();
    expect(names.length).toBeGreaterThanOrEqual(3);
    await turns.until(turns.count + 10);
    isOver = true;
    await Promise.all(talks);
    const seen = await sql<{ later_count: number }>`select later_count from inbox`.execute(newer.db);
    expect(new Set(seen.rows.map((row) => Number(row.later_count)))).toEqual(new Set([0]));
    expect((await old.varve.doctor()).findings.flatMap((finding) => finding.faults)).toEqual([]);
    await older.close();
    await newer.close();
    await old.end();
    // Only what was marked is accepted.
    await (await open([...migrations, added, changed])).close();
    await expect(open(migrations)).rejects.toMatchObject({ code: "SCHEMA_NEWER" });
    await expect(open([...migrations, added])).rejects.toMatchObject({ code: "SCHEMA_NEWER" });
  });
});
