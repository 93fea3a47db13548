/** Encryption at rest: what callers see, and what is in the database. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { afterEach, expect, test } from "vitest";
import { systemClock, systemRandom } from "../../src/domain/index.ts";
import { openVarve, restoreBackup, type Varve } from "../../src/index.ts";
import { migrations } from "../../src/store/migrations/index.ts";
import { openPostgres } from "../../src/store/postgres/open.ts";
import { sealedColumns } from "../../src/store/seal/sealed-columns.ts";
import { openSqlite } from "../../src/store/sqlite/open.ts";
import { scratchDatabase } from "../support/databases.ts";
import { type EngineUnderTest, onEveryEngine } from "../support/engines.ts";

const secret = "walrus";
const keys = { first: Buffer.alloc(32, 7).toString("base64"), second: Buffer.alloc(32, 9).toString("hex") };
process.env.VARVE_TEST_KEY_FIRST = keys.first;
process.env.VARVE_TEST_KEY_SECOND = keys.second;
const first = "env:VARVE_TEST_KEY_FIRST";
const second = "env:VARVE_TEST_KEY_SECOND";

onEveryEngine("encryption", (get) => {
  const opened: Varve[] = [];
  const drops: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const varve of opened.splice(0)) await varve.close();
    for (const drop of drops.splice(0)) await drop();
  });

  /** A database of its own for every test. */
  const place = async (under: EngineUnderTest) => {
    const scratch = await scratchDatabase(under.kind);
    drops.push(() => scratch.drop());
    const open = async (encryption: { key?: string; previousKeys?: string[] }) => {
      const varve = await openVarve({
        home: under.home,
        database: scratch.database,
        background: false,
        config: { encryption, search: { embedder: "none" }, turn: { runner: "offline", debounceMs: 0 } },
      });
      opened.push(varve);
      return varve;
    };
    return { database: scratch.database, open };
  };

  /** Every text of the sealed columns, as it is in the database. */
  const readRaw = async (under: EngineUnderTest, database: string): Promise<{ column: string; text: string }[]> => {
    const openRaw = under.kind === "postgres" ? openPostgres : openSqlite;
    const store = await openRaw({ database, clock: systemClock, random: systemRandom }, migrations);
    const found: { column: string; text: string }[] = [];
    for (const [table, columns] of Object.entries(sealedColumns)) {
      for (const column of columns) {
        const { rows } = await sql<{
          text: string | null;
        }>`select ${sql.ref(column)} as text from ${sql.table(table)}`.execute(store.db);
        for (const { text } of rows) if (text) found.push({ column: `${table}.${column}`, text });
      }
    }
    await store.close();
    return found;
  };

  /** Writes something into every table that holds text. */
  const fill = async (varve: Varve) => {
    const session = await varve.sessions.resolve({ key: "agent:main:main" });
    await varve.transcripts.states.change(session, ["note"], () => ({ note: `The ${secret} of a graph.` }));
    const lines = Array.from({ length: 30 }, (_, index) => ({
      role: index % 2 === 0 ? ("user" as const) : ("assistant" as const),
      content: `Line ${index}: the ${secret} sleeps on the ice for a long time. `.repeat(20),
    }));
    await varve.context.ingest(session, lines);
    const paste = {
      name: `${secret}.log`,
      type: "file" as const,
      source: { kind: "text" as const, text: `A ${secret} paste. `.repeat(20_000) },
    };
    await varve.context.ingest(session, [{ role: "user", content: [paste] }]);
    await varve.context.compact(session, { budgetTokens: 2_000 });
    await varve.memory.add({ text: `The name of the ${secret} is Otto.`, force: true });
    await varve.memory.file({ command: "create", path: "/memories/a.md", file_text: `A note about the ${secret}.` });
    await varve.sessions.addNotice(session, `The ${secret} woke up.`);
    varve.turns.start();
    await varve.turns.send({ session: session.key, text: `Where is the ${secret}?` });
    await varve.context.assemble(session, { prompt: `What is the name of the ${secret}?` });
    return session;
  };

  const check = async (varve: Varve) => {
    const session = await varve.sessions.get("agent:main:main");
    const { entries } = await varve.transcripts.read(session, { limit: 100 });
    expect(JSON.stringify(entries)).toContain(`the ${secret} sleeps`);
    expect((await varve.search.find(secret)).results.length).toBeGreaterThan(0);
    expect((await varve.memory.recall({ query: `name of the ${secret}` })).hits[0]?.memory.content).toContain("Otto");
    const grep = await varve.context.grep({ pattern: `${secret} sl[e]{2}ps` });
    expect(grep.matches.length).toBeGreaterThan(0);
    const files = await varve.context.grep({ pattern: `A ${secret} paste`, scope: "files" });
    expect(files.matches.length).toBeGreaterThan(0);
    expect((await varve.context.overview(session)).summaries[0]?.content).toContain(secret);
    expect(await varve.memory.file({ command: "view", path: "/memories/a.md" })).toContain(secret);
  };

  test("callers see plain text, the database holds none", async () => {
    const { open, database } = await place(get());
    const varve = await open({ key: first });
    await fill(varve);
    await check(varve);
    expect((await varve.status()).encryption).toMatch(/^[0-9a-f]{8}$/);
    await varve.close();
    const raw = await readRaw(get(), database);
    expect(new Set(raw.map((one) => one.column)).size).toBeGreaterThanOrEqual(9);
    for (const { column, text } of raw) {
      expect(text.startsWith("\u0002varve1."), column).toBe(true);
      expect(text, column).not.toContain(secret);
    }
    await check(await open({ key: first }));
  });

  test("without the key, or with another one, nothing is opened and the error says why", async () => {
    const { open } = await place(get());
    await (await open({ key: first })).close();
    await expect(open({})).rejects.toThrow(/sealed with the key/);
    await expect(open({ key: second })).rejects.toThrow(/sealed with the key/);
    await expect(open({ key: "env:VARVE_TEST_NO_KEY" })).rejects.toThrow(/empty or not set/);
    process.env.VARVE_TEST_KEY_SHORT = "c2hvcnQ=";
    await expect(open({ key: "env:VARVE_TEST_KEY_SHORT" })).rejects.toThrow(/32 bytes/);
    await open({ key: first });
  });

  test("what was written before is encrypted on request, a key is replaced, and everything is decrypted again", async () => {
    const { open, database } = await place(get());
    const plain = await open({});
    await fill(plain);
    await plain.close();
    expect(JSON.stringify(await readRaw(get(), database))).toContain(secret);

    const sealed = await open({ key: first });
    await check(sealed);
    const { rows } = await sealed.rewriteDatabase();
    expect(rows).toBeGreaterThan(30);
    expect((await sealed.rewriteDatabase()).rows).toBe(0);
    await check(sealed);
    await sealed.close();
    expect(JSON.stringify(await readRaw(get(), database))).not.toContain(secret);

    const rotated = await open({ key: second, previousKeys: [first] });
    await check(rotated);
    await rotated.rewriteDatabase();
    await rotated.close();
    const later = await open({ key: second });
    await check(later);
    await later.rewriteDatabase({ decrypt: true });
    await later.close();
    await check(await open({}));
  });

  test("the same large content is stored once, whatever it was encrypted with", async () => {
    const { open } = await place(get());
    const text = `A ${secret} paste. `.repeat(20_000);
    const add = async (varve: Varve, id: string) => {
      const session = await varve.sessions.resolve({ key: "agent:main:main" });
      await varve.context.ingest(session, [{ id, role: "user", content: text }]);
      const { entries } = await varve.transcripts.read(session);
      expect(JSON.stringify(entries.at(-1))).toContain(text.slice(0, 1_000));
      await varve.close();
    };
    await add(await open({}), "m1");
    await add(await open({ key: first }), "m2");
    await add(await open({ key: first }), "m3");
    await add(await open({ key: second, previousKeys: [first] }), "m4");
  });

  test("backups are encrypted whole, and a damaged one is refused", async () => {
    const under = get();
    const { open } = await place(under);
    const varve = await open({ key: first });
    await fill(varve);
    for (const [name, portable] of [
      ["whole.db", false],
      ["whole.jsonl.gz", true],
    ] as const) {
      if (under.kind === "postgres" && !portable) continue;
      const file = join(under.home, name);
      await varve.backup(file, { portable });
      const bytes = readFileSync(file);
      expect(bytes.subarray(0, 12).toString()).toBe("VARVE SEALED");
      expect(bytes.includes(secret)).toBe(false);
      const scratch = await scratchDatabase(under.kind);
      drops.push(() => scratch.drop());
      const target = { home: under.home, database: scratch.database, config: { encryption: { key: first } } };
      await restoreBackup(target, file);
      const restored = await openVarve({
        ...target,
        background: false,
        config: { ...target.config, search: { embedder: "none" } },
      });
      opened.push(restored);
      await check(restored);
      const damaged = join(under.home, `damaged-${name}`);
      for (const change of [
        (all: Buffer) => all.subarray(0, all.length - 1),
        (all: Buffer) => Buffer.concat([all.subarray(0, 40), Buffer.from([(all[40] ?? 0) ^ 1]), all.subarray(41)]),
      ]) {
        writeFileSync(damaged, change(bytes));
        await expect(restoreBackup(target, damaged)).rejects.toThrow(/damaged or incomplete/);
      }
      rmSync(damaged);
      rmSync(file);
    }
  });
});
