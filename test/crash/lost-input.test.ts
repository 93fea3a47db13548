/** A server that lost what it had not flushed, while the process that wrote it goes on with the turn. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openVarve } from "../../src/index.ts";
import { getText } from "../../src/turn/turn.ts";
import { lastUserText, modelSettings, type Says, startChatServer } from "../support/chat-server.ts";
import { databaseKinds, type ScratchDatabase, scratchDatabase } from "../support/databases.ts";
import { assertHealthy } from "./log.ts";

const key = "agent:main:lost:direct:input";
/** The tables that an append changes, with the columns that name a row. */
const appended = { conversations: "id", branches: "branch", transcripts: "id", sessions: "key" };

describe.runIf(databaseKinds.includes("postgres"))("input that the server lost during a turn", () => {
  let scratch: ScratchDatabase;
  let admin: Client;
  const home = mkdtempSync(join(tmpdir(), "varve-lost-input-"));
  beforeAll(async () => {
    scratch = await scratchDatabase("postgres");
    // The superuser of the server, also when the tests use another role.
    const url = new URL(scratch.database);
    url.username = new URL(process.env.VARVE_TEST_POSTGRES_URL ?? "").username;
    admin = new Client({ connectionString: url.href });
    await admin.connect();
  });
  afterAll(async () => {
    await admin?.end();
    await scratch?.drop();
    rmSync(home, { recursive: true, force: true });
  });

  test.each([
    ["is written with the reply", [{ text: "Here you are." }], "replied"],
    ["is written with the failure", [{ status: 400 }], "failed"],
    ["is written before a model is asked again", [{ status: 500 }, { text: "Here you are." }], "replied"],
  ] satisfies [string, Says[], string][])("%s", async (name, answers, status) => {
    const session = `${key}-${name.replaceAll(" ", "-")}`;
    let loseInput = async (): Promise<void> => undefined;
    let isLost = false;
    const server = await startChatServer(async (body) => {
      if (lastUserText(body) !== "second") return { text: "Yes." };
      const says = answers.shift() ?? { text: "Asked too often." };
      if (!isLost) await loseInput();
      isLost = true;
      return says;
    });
    const varve = await openVarve({
      home,
      database: scratch.database,
      config: {
        models: modelSettings(server.url),
        search: { embedder: "none" },
        turn: { debounceMs: 0 },
        memory: { recall: false },
      },
    });
    await varve.turns.send({ session, text: "first" });
    const saved = new Map<string, { rows: Record<string, unknown>[] }>();
    for (const table of Object.keys(appended)) saved.set(table, await admin.query(`select * from ${table}`));
    const { rows: last } = await admin.query<{ seq: number }>("select max(seq)::int as seq from entries");
    loseInput = async () => {
      await admin.query("delete from entry_text where seq > $1", [last[0]?.seq]);
      const lost = await admin.query("delete from entries where seq > $1 returning id", [last[0]?.seq]);
      expect(lost.rowCount).toBe(1);
      for (const [table, name] of Object.entries(appended)) {
        for (const row of saved.get(table)?.rows ?? []) {
          const columns = Object.keys(row).filter((column) => !["agent", name, "conversation"].includes(column));
          const set = columns.map((column, index) => `${column} = $${index + 2}`).join(", ");
          const values = columns.map((column) => row[column]);
          const inConversation = table === "branches" ? `and conversation = ${row.conversation}` : "";
          await admin.query(`update ${table} set ${set} where ${name} = $1 ${inConversation}`, [row[name], ...values]);
        }
      }
    };
    expect(await varve.turns.send({ session, text: "second" })).toMatchObject({ status });
    const { entries } = await varve.transcripts.read(await varve.sessions.get(session), { limit: 100 });
    const said = entries.flatMap((entry) => (entry.type === "message" ? [getText(entry.message)] : []));
    expect(said).toEqual(["first", "Yes.", "second", ...(status === "replied" ? ["Here you are."] : [])]);
    await assertHealthy(varve, "after the loss");
    await varve.close();
    await server.close();
  });
});
