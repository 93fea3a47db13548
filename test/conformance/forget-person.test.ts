import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { Varve } from "../../src/index.ts";
import { type EngineUnderTest, onEveryEngine } from "../support/engines.ts";

const config = {
  session: { dmScope: "per-channel-peer" as const, identityLinks: { Ada: ["telegram:505", "slack:U1"] } },
  context: { largeFileTokenThreshold: 1000 },
};
const group = { type: "group" as const, id: "g1" };

function say(varve: Varve, channel: string, id: string, text: string, chat?: typeof group): Promise<unknown> {
  const from = { id, name: id === "505" ? "Ada L." : "Bob" };
  return varve.turns.send({ channel, from, text, debounceMs: 0, ...(chat ? { chat, mentioned: false } : {}) });
}

const secrets = ["plover", "quincunx", "zephyrine", "obelisk"];

/** The bytes of the database, for engines that have a file. */
function readBytes({ kind, database }: EngineUnderTest): string {
  if (kind !== "sqlite") return "";
  return readFileSync(database, "latin1") + readFileSync(`${database}-wal`, "latin1");
}

async function fill({ varve }: EngineUnderTest): Promise<void> {
  await say(varve, "telegram", "505", "My secret word is plover and I live at 12 Harbour Road.");
  await say(varve, "slack", "U1", "In this channel my secret word is quincunx, as agreed.");
  await say(varve, "telegram", "606", "I am Bob and my own word is marigold, remember it.");
  for (let round = 0; round < 12; round += 1) {
    await say(varve, "telegram", "505", `Round ${round}: the group should know zephyrine number ${round}.`, group);
    await say(varve, "telegram", "606", `Round ${round}: Bob answers with marigold number ${round}.`, group);
  }
  await say(varve, "telegram", "505", `A large file: ${"obelisk is a word. ".repeat(2000)}`, group);
  const groupSession = await varve.sessions.get("agent:main:telegram:group:g1");
  await varve.context.compact(groupSession, { budgetTokens: 256 });
  await varve.memory.add({ text: "Ada's vault code is plover 77.", scope: "user:Ada" });
  await varve.search.index();
}

process.env.VARVE_TEST_FORGET_KEY = Buffer.alloc(32, 5).toString("base64");

function defineTests(get: () => EngineUnderTest): void {
  it("counts in a dry run what would be erased, and changes nothing", async () => {
    const under = get();
    const { varve } = under;
    await fill(under);
    const before = await varve.status();
    const report = await varve.forgetPerson("slack:U1", { dryRun: true });
    expect(report.forms).toEqual(expect.arrayContaining(["Ada", "telegram:505", "slack:U1"]));
    expect(report).toMatchObject({
      dryRun: true,
      verification: null,
      erased: { sessions: 2, conversations: 2, messages: 13, files: 1, memories: 1 },
    });
    expect(report.erased.summaries).toBeGreaterThan(0);
    const { databaseBytes: _, ...counts } = await varve.status();
    expect(counts).toEqual({ ...before, databaseBytes: undefined, ...counts });
    expect(await varve.status()).toMatchObject({ messages: before.messages, memories: before.memories });
  });

  it("erases chats, messages in groups, summaries, files and memories, and keeps what is of others", async () => {
    const under = get();
    const { varve } = under;
    const asked = await varve.forgetPerson("Ada", { dryRun: true });
    const report = await varve.forgetPerson("Ada");
    expect(report.erased).toEqual(asked.erased);
    if (under.kind === "sqlite") expect(report.verification).toMatchObject({ found: 0 });
    for (const word of secrets) {
      const { results } = await varve.search.find(word);
      expect(
        results.filter(({ snippet }) => snippet.includes(word)),
        word,
      ).toEqual([]);
      expect(readBytes(under).includes(word), word).toBe(false);
    }
    const groupSession = await varve.sessions.get("agent:main:telegram:group:g1");
    const { entries } = await varve.transcripts.read(groupSession, { limit: 1000 });
    const texts = entries.flatMap((entry) => (entry.type === "message" ? [entry.message.content] : []));
    expect(texts.filter((text) => text === "[This message was erased at the request of its author.]")).toHaveLength(13);
    expect(texts.filter((text) => String(text).includes("marigold"))).toHaveLength(12);
    expect(JSON.stringify(entries)).not.toContain("Ada L.");
    await expect(varve.sessions.get("agent:main:telegram:direct:Ada")).rejects.toMatchObject({
      code: "SESSION_NOT_FOUND",
    });
    expect((await varve.sessions.get("agent:main:telegram:direct:606")).key).toContain("606");
    expect((await varve.doctor()).findings.filter(({ faults }) => faults.length > 0)).toEqual([]);
  });

  it("finds nothing the second time, and the group can be compacted and used again", async () => {
    const { varve } = get();
    const again = await varve.forgetPerson("telegram:505");
    expect(Object.values(again.erased).every((count) => count === 0)).toBe(true);
    const groupSession = await varve.sessions.get("agent:main:telegram:group:g1");
    await varve.context.compact(groupSession, { budgetTokens: 256 });
    await say(varve, "telegram", "505", "I am back.", group);
    expect((await varve.doctor()).healthy).toBe(true);
  });

  it("erases memories whose evidence is only theirs, and keeps the others without it", async () => {
    const { varve } = get();
    await say(varve, "telegram", "707", "Cleo's boat is called Nightjar.", group);
    await say(varve, "telegram", "606", "Yes, her boat is called Nightjar, I saw it.", group);
    const { entries } = await varve.transcripts.read(await varve.sessions.get("agent:main:telegram:group:g1"), {
      limit: 1000,
    });
    const [hers, his] = entries.filter(
      (one) => one.type === "message" && String(one.message.content).includes("Nightjar"),
    );
    const source = (entry: typeof hers) => ({
      agent: "main",
      sessionId: entry!.sessionId,
      seq: entry!.seq,
      start: 0,
      end: 10,
    });
    const own = await varve.memory.add({ text: "Cleo owns a boat.", sources: [source(hers)] });
    const shared = await varve.memory.add({
      text: "The boat is called Nightjar.",
      sources: [source(hers), source(his)],
    });
    expect((await varve.forgetPerson("telegram:707")).erased).toMatchObject({ messages: 1, memories: 1 });
    await expect(varve.memory.get(own.current.id)).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect((await varve.memory.get(shared.current.id)).memory.sources).toHaveLength(1);
  });

  it("finds messages by the speaker's id, and by a display name only when it is given", async () => {
    const { varve } = get();
    const session = await varve.sessions.get("agent:main:telegram:group:g1");
    await varve.context.ingest(session, [
      { id: "n1", role: "user", name: "808", content: "My shoe size is forty-two." },
      { id: "n2", role: "user", name: "Dora", content: "My hat size is fifty-seven." },
      { id: "n3", role: "user", name: "Dorothea", content: "My glove size is eight." },
    ]);
    expect((await varve.forgetPerson("telegram:808", { dryRun: true })).erased.messages).toBe(1);
    const report = await varve.forgetPerson("telegram:808", { names: ["dora"] });
    expect(report.erased.messages).toBe(2);
    const found = await varve.search.find("glove size");
    expect(found.results[0]?.snippet).toContain("glove");
  });

  it("asks which person is meant when an id exists in several channels", async () => {
    const { varve } = get();
    await say(varve, "telegram", "42", "I am one person.");
    await say(varve, "discord", "42", "I am another person.");
    await expect(varve.forgetPerson("42")).rejects.toMatchObject({ code: "AMBIGUOUS" });
    expect((await varve.forgetPerson("discord:42")).erased).toMatchObject({ sessions: 1 });
    expect((await varve.sessions.get("agent:main:telegram:direct:42")).key).toContain("telegram");
  });
}

onEveryEngine("forgetting a person", defineTests, { config, background: true });
onEveryEngine("forgetting a person whose texts are encrypted", defineTests, {
  config: { ...config, encryption: { key: "env:VARVE_TEST_FORGET_KEY" } },
  background: true,
});
