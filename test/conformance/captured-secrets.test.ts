/** Credentials in messages: kept aside for their owner, and nowhere else. */
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterEach, expect, test } from "vitest";
import { systemClock, systemRandom } from "../../src/domain/index.ts";
import { openVarve, type Varve } from "../../src/index.ts";
import { migrations } from "../../src/store/migrations/index.ts";
import { openPostgres } from "../../src/store/postgres/open.ts";
import { openSqlite } from "../../src/store/sqlite/open.ts";
import { scratchDatabase } from "../support/databases.ts";
import { onEveryEngine } from "../support/engines.ts";

/** Written in parts, so that scanners of this repository do not take it for a real one. */
const secret = ["sk", "ant", "api03", "aB3dE6".repeat(6)].join("-");
const password = "Xk9-wQ72!plmZ";
process.env.VARVE_TEST_CAPTURE_KEY = Buffer.alloc(32, 3).toString("base64");
const key = "env:VARVE_TEST_CAPTURE_KEY";

onEveryEngine("captured secrets", (get) => {
  const opened: Varve[] = [];
  const drops: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const varve of opened.splice(0)) await varve.close();
    for (const drop of drops.splice(0)) await drop();
  });
  const open = async (config: NonNullable<Parameters<typeof openVarve>[0]>["config"]) => {
    const scratch = await scratchDatabase(get().kind);
    drops.push(() => scratch.drop());
    const varve = await openVarve({
      home: get().home,
      database: scratch.database,
      background: false,
      config: { search: { embedder: "none" }, turn: { runner: "offline", debounceMs: 0 }, ...config },
    });
    opened.push(varve);
    return { varve, database: scratch.database };
  };

  /** Everything in the database, as text. */
  const readAll = async (database: string): Promise<string> => {
    const openRaw = get().kind === "postgres" ? openPostgres : openSqlite;
    const store = await openRaw({ database, clock: systemClock, random: systemRandom }, migrations);
    const names =
      get().kind === "postgres"
        ? sql<{ name: string }>`select table_name as name from information_schema.tables where table_schema = 'public'`
        : sql<{ name: string }>`select name from sqlite_master where type = 'table'`;
    const { rows } = await names.execute(store.db);
    let all = "";
    for (const { name } of rows) {
      all += JSON.stringify((await sql`select * from ${sql.table(name)}`.execute(store.db)).rows);
    }
    await store.close();
    return all;
  };

  const fill = async (varve: Varve) => {
    const session = await varve.sessions.resolve({ key: "agent:main:main" });
    await varve.context.ingest(session, [
      { id: "m1", role: "user", content: `Use ${secret} for the deployment, the password is ${password} by the way.` },
      {
        id: "m2",
        role: "assistant",
        content: [
          { type: "tool_call", callId: "c1", name: "bash", input: { command: `curl -H "x-api-key: ${secret}"` } },
        ],
      },
      { id: "m3", role: "tool", content: [{ type: "tool_result", callId: "c1", output: `token=${secret}` }] },
      { id: "m4", role: "user", content: `A log with ${secret} in it. `.repeat(5_000) },
      ...Array.from({ length: 12 }, (_, index) => ({
        role: index % 2 === 0 ? ("user" as const) : ("assistant" as const),
        content: `More about the deployment, part ${index}. `.repeat(30),
      })),
    ]);
    await varve.context.compact(session, { budgetTokens: 1_000 });
    await varve.memory.extract(session);
    await varve.memory.add({ text: `The password of the printer is ${password}.`, force: true });
    varve.turns.start();
    await varve.turns.send({ session: session.key, text: `What is ${secret} for?` });
    return session;
  };

  test("are kept aside encrypted, and everything else sees a placeholder", async () => {
    const { varve, database } = await open({ encryption: { key } });
    const session = await fill(varve);
    const seen = [
      JSON.stringify(await varve.transcripts.read(session, { limit: 100 })),
      JSON.stringify(await varve.context.assemble(session, { prompt: "deployment password" })),
      JSON.stringify(await varve.search.find("deployment")),
      JSON.stringify(await varve.search.find(secret)),
      JSON.stringify(await varve.memory.list()),
      JSON.stringify(await varve.context.overview(session)),
      ...(await Promise.all(
        (["jsonl", "markdown", "html"] as const).map(async (format) => {
          let text = "";
          for await (const piece of varve.transcripts.export(session, format)) text += piece;
          return text;
        }),
      )),
    ].join("\n");
    expect(seen.replaceAll(`"query":"${secret}"`, "")).not.toContain(secret);
    expect(seen).not.toContain(password);
    expect(seen).toMatch(/\[Anthropic key sec_[0-9a-f]{16}\]/);
    const kept = await varve.secrets.list();
    const texts = await Promise.all(kept.map(({ id }) => varve.secrets.open(id)));
    expect(texts.sort()).toEqual([secret, password].sort());
    await varve.close();
    const raw = await readAll(database);
    expect(raw).not.toContain(secret);
    expect(raw).not.toContain("sk-ant");
    expect(raw).not.toContain(password);
  });

  test("are dropped or stay, as the settings say", async () => {
    const { varve: dropping } = await open({ redact: { capture: "drop" } });
    const session = await fill(dropping);
    const read = JSON.stringify(await dropping.transcripts.read(session, { limit: 100 }));
    expect(read).toContain("[Anthropic key removed]");
    expect(read).not.toContain(secret);
    expect(await dropping.secrets.list()).toEqual([]);
    const { varve: exact } = await open({});
    expect(JSON.stringify(await exact.transcripts.read(await fill(exact), { limit: 100 }))).toContain(secret);
    const { varve: off } = await open({ encryption: { key }, redact: { capture: "off" } });
    expect(JSON.stringify(await off.transcripts.read(await fill(off), { limit: 100 }))).toContain(secret);
    await expect(open({ redact: { capture: "seal" } })).rejects.toThrow(/no encryption key/);
  });

  test("of imports are captured too, and an import that is repeated stores nothing twice", async () => {
    const { varve, database } = await open({ encryption: { key } });
    const folder = mkdtempSync(join(tmpdir(), "varve-import-"));
    const file = join(folder, "notes.jsonl");
    for (const [index, content] of [`The key is ${secret}.`, "Thanks.", `Again ${secret}.`].entries()) {
      appendFileSync(file, `${JSON.stringify({ id: `n${index}`, role: index % 2 ? "assistant" : "user", content })}\n`);
    }
    const first = await varve.import([folder]);
    const again = await varve.import([folder]);
    rmSync(folder, { recursive: true });
    expect(first.imported).toBe(3);
    expect(again.imported).toBe(0);
    expect((await varve.secrets.list()).length).toBe(1);
    await varve.close();
    expect(await readAll(database)).not.toContain(secret);
  });
});
