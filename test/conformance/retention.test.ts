import { expect, it } from "vitest";
import { type EngineUnderTest, onEveryEngine } from "../support/engines.ts";

const day = 86_400_000;
const config = {
  retention: { messages: "30d", memories: "60d", turns: "10d", audit: "5d" },
  gateway: { audit: true },
  context: { largeFileTokenThreshold: 1000 },
};

process.env.VARVE_TEST_RETENTION_KEY = Buffer.alloc(32, 6).toString("base64");

function defineTests(get: () => EngineUnderTest): void {
  it("removes the content of old messages and summaries, and nothing else", async () => {
    const { varve, clock } = get();
    const session = await varve.sessions.resolve({ key: "agent:main:telegram:direct:5" });
    const message = (id: string, content: string) => ({ id, role: "user" as const, content });
    for (let index = 0; index < 20; index += 1) {
      await varve.context.ingest(session, [message(`old${index}`, `The old word is plover, number ${index}.`)]);
    }
    await varve.context.ingest(session, [message("large", "obelisk is a word. ".repeat(2000))]);
    await varve.context.compact(session, { budgetTokens: 256 });
    clock.advance(31 * day);
    await varve.context.ingest(session, [message("new", "The new word is marigold.")]);
    const report = await varve.applyRetention();
    expect(report?.messages).toMatchObject({ removed: 22 });
    expect(report?.messages?.summaries).toBeGreaterThan(0);
    for (const word of ["plover", "obelisk"]) expect((await varve.search.find(word)).results).toEqual([]);
    expect((await varve.search.find("marigold")).results[0]?.snippet).toContain("marigold");
    const { entries } = await varve.transcripts.read(session, { limit: 100 });
    expect(JSON.stringify(entries)).not.toMatch(/plover|obelisk/);
    expect(entries.flatMap((one) => (one.type === "message" ? [one.id] : []))).toHaveLength(22);
    const view = await varve.context.assemble(session, { budgetTokens: 4000 });
    expect(JSON.stringify(view.messages)).not.toMatch(/plover|obelisk/);
    expect((await varve.doctor()).findings.filter(({ faults }) => faults.length > 0)).toEqual([]);
    expect((await varve.applyRetention())?.messages).toEqual({ removed: 0, summaries: 0, summariesKept: 0 });
  });

  it("finds old messages that were imported after the last run", async () => {
    const { varve, clock } = get();
    const session = await varve.sessions.resolve({ key: "agent:main:telegram:direct:6" });
    const time = clock.now() - 400 * day;
    await varve.context.ingest(session, [{ id: "i1", role: "user", content: "The imported word is zephyrine.", time }]);
    expect((await varve.applyRetention())?.messages).toMatchObject({ removed: 1 });
  });

  it("says how many summaries still describe removed messages", async () => {
    const { varve, clock } = get();
    const session = await varve.sessions.resolve({ key: "agent:main:telegram:direct:7" });
    for (let index = 0; index < 40; index += 1) {
      clock.advance(day);
      const content = `Day ${index}: the ship sailed on, ${"and on ".repeat(20)}.`;
      await varve.context.ingest(session, [{ id: `d${index}`, role: "user", content }]);
    }
    await varve.context.compact(session, { budgetTokens: 256 });
    const report = await varve.applyRetention();
    expect(report?.messages?.removed).toBeGreaterThan(5);
    expect(report?.messages?.summariesKept).toBeGreaterThan(0);
    expect((await varve.doctor()).healthy).toBe(true);
  });

  it("removes memories that were not used, answered messages and audit records", async () => {
    const { varve, clock } = get();
    const old = await varve.memory.add({ text: "The vault code is 4711." });
    await varve.turns.send({ channel: "telegram", from: { id: "9" }, text: "hello", debounceMs: 0 });
    await varve.audit.record({ principal: "owner", action: "varve test", status: "ok" });
    clock.advance(11 * day);
    const soon = await varve.applyRetention();
    expect(soon).toMatchObject({ memories: { removed: 0 }, audit: { removed: 1 } });
    expect(soon?.turns?.removed).toBeGreaterThan(0);
    clock.advance(50 * day);
    expect((await varve.applyRetention())?.memories?.removed).toBeGreaterThan(0);
    await expect(varve.memory.get(old.current.id)).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect((await varve.audit.verify()).intact).toBe(true);
  });

  it("does nothing without periods", async () => {
    const other = await get().another({ config: { encryption: get().varve.settings.config.encryption } });
    expect(await other.applyRetention()).toEqual({});
  });
}

onEveryEngine("retention", defineTests, { config, background: true });
onEveryEngine("retention of encrypted texts", defineTests, {
  config: { ...config, encryption: { key: "env:VARVE_TEST_RETENTION_KEY" } },
  background: true,
});
