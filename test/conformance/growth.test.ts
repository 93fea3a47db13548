/** What stays bounded when a history is long: common words, regular expressions, dumps, the inbox. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openVarve, restoreBackup, type Varve } from "../../src/index.ts";
import { scratchDatabase } from "../support/databases.ts";
import { type EngineUnderTest, onEveryEngine } from "../support/engines.ts";

const config = { search: { embedder: "none" }, retention: { inbox: "10d", turns: "60d" } } as const;
const messagesEach = 10_000;
const batch = 500;
const day = 86_400_000;

/** Nine of ten messages have the word ledger; each tenth has a word of its own. */
async function fill(varve: Varve, agent: string, start: number): Promise<void> {
  const session = await varve.sessions.resolve({ key: `agent:${agent}:long` });
  for (let from = 0; from < messagesEach; from += batch) {
    const messages = Array.from({ length: batch }, (_, index) => {
      const number = from + index;
      const content =
        number % 10 === 0 ? `Word ${agent}rare${number} here.` : `The ledger of ${agent}, page ${number}.`;
      return { id: `m${number}`, role: "user" as const, content, time: start + number * 1_000 };
    });
    await varve.context.ingest(session, messages);
  }
}

async function tell(varve: Varve, agent: string, texts: readonly string[]): Promise<void> {
  const session = await varve.sessions.resolve({ key: `agent:${agent}:short` });
  await varve.context.ingest(
    session,
    texts.map((content) => ({ role: "user" as const, content })),
  );
}

function defineTests(get: () => EngineUnderTest): void {
  const start = Date.UTC(2025, 0, 1);

  it("ranks only the newest messages with a word that nearly all have, and says so", async () => {
    const { varve } = get();
    await tell(varve, "cat", ["The ledger of cat is red.", "It rains.", "Cat keeps a ledger at home."]);
    for (const agent of ["ann", "bob"]) await fill(varve, agent, start);
    const found = await varve.search.find("ledger", { agent: "ann", limit: 20 });
    expect(found.results).toHaveLength(20);
    expect(found.results.every((result) => result.text.includes("ann"))).toBe(true);
    expect(found.cut.join()).toMatch(/only the newest \d+ messages with "ledger" were ranked/);
    const everywhere = { agent: "ann", allConversations: true, scope: "messages", mode: "full_text" } as const;
    for (const sort of ["relevance", "recency"] as const) {
      const { matches, cut } = await varve.context.grep({ ...everywhere, pattern: "ledger", sort });
      expect(matches).toHaveLength(50);
      expect(cut).toMatch(/the words are too common: only the newest \d+ messages with them were ordered/);
      if (sort === "recency") expect(matches[0]?.snippet).toContain(`page ${messagesEach - 1}.`);
    }
  });

  it("finds the messages of a small agent among many newer ones of others with the same word", async () => {
    const { varve } = get();
    await fill(varve, "dan", start);
    await tell(varve, "cat", ["Today the sun shines."]);
    const found = await varve.search.find("ledger", { agent: "cat", limit: 20 });
    const texts = found.results.map((result) => result.text).filter((text) => text.includes("ledger"));
    expect(texts.sort()).toEqual(["Cat keeps a ledger at home.", "The ledger of cat is red."]);
    const everywhere = { agent: "cat", allConversations: true, scope: "messages", mode: "full_text" } as const;
    const { matches, cut } = await varve.context.grep({ ...everywhere, pattern: "ledger" });
    expect([matches.length, cut]).toEqual([2, undefined]);
  });

  it("finds a rare word and an old message wherever they are, with nothing left out", async () => {
    const { varve } = get();
    for (const number of [0, 3_000, 9_990]) {
      const found = await varve.search.find(`annrare${number}`, { agent: "ann" });
      expect(found.results[0]?.text).toContain(`annrare${number} `);
      expect(found.cut.join()).not.toContain("newest");
    }
    expect((await varve.search.find("bobrare10", { agent: "ann" })).results).toEqual([]);
    const old = await varve.search.find("ledger", { agent: "ann", before: start + 10_000, limit: 20 });
    expect(old.results.map((result) => result.text)).toContain("The ledger of ann, page 1.");
    const all = await varve.context.grep({ agent: "ann", allConversations: true, pattern: "page 1\\.$" });
    expect(all.matches).toMatchObject([{ snippet: "The ledger of ann, page 1." }]);
    expect(all.searched.messages).toBeGreaterThan(0);
  });

  it("dumps and restores tables of many pages completely", async () => {
    const { varve, home, clock } = get();
    for (let index = 0; index < 700; index += 1) await varve.sessions.resolve({ key: `agent:ann:many-${index}` });
    const file = join(home, "paged.jsonl.gz");
    await varve.backup(file, { portable: true });
    const before = await varve.status();
    const scratch = await scratchDatabase("sqlite");
    try {
      await restoreBackup({ home: join(home, "copy"), database: scratch.database, clock }, file);
      const copy = await openVarve({ home: join(home, "copy"), database: scratch.database, background: false });
      try {
        const after = await copy.status();
        for (const name of ["sessions", "conversations", "messages", "entries", "tokens"] as const) {
          expect([name, after[name]]).toEqual([name, before[name]]);
        }
        expect((await copy.search.find("annrare3000", { agent: "ann" })).results[0]?.text).toContain("annrare3000");
      } finally {
        await copy.close();
      }
    } finally {
      await scratch.drop();
      rmSync(file, { force: true });
    }
  });

  it("removes answered messages of the inbox after a period of their own, and none that waits", async () => {
    const { varve, clock } = get();
    const send = (id: string) => varve.turns.send({ channel: "telegram", from: { id }, text: "hello", debounceMs: 0 });
    await send("1");
    clock.advance(11 * day);
    await send("2");
    expect(await varve.applyRetention()).toEqual({ inbox: { removed: 1 }, turns: { removed: 0 } });
    clock.advance(60 * day);
    const later = await varve.applyRetention();
    expect(later?.inbox).toEqual({ removed: 1 });
    expect(later?.turns?.removed).toBeGreaterThan(0);
  });
}

onEveryEngine("a long history", defineTests, { config, background: true });
