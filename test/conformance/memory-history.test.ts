/** Memories from imported history: read from the newest message backwards, within a daily limit, and resumable. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { OpenOptions, Session } from "../../src/index.ts";
import { onEveryEngine } from "../support/engines.ts";
import { ScriptedModel } from "../support/scripted-memory-model.ts";

const day = 86_400_000;

onEveryEngine("imported history of memories", (get) => {
  const importChat = async (agent: string, texts: readonly string[], options: OpenOptions = {}) => {
    const { clock, home } = get();
    const varve = await get().another(options);
    const file = join(home, `${agent}.jsonl`);
    const start = clock.now() - texts.length * 3_600_000;
    const lines = texts.map((content, index) =>
      JSON.stringify({ id: `h${index}`, role: "user", content, timestamp: start + index * 3_600_000 }),
    );
    writeFileSync(file, `${lines.join("\n")}\n`);
    await varve.import([file], { source: "jsonl", agent });
    const [session] = (await varve.sessions.list({ agent })).sessions;
    if (!session) throw new Error("nothing was imported");
    return { varve, session };
  };
  const fill = (count: number, special: Record<number, string>) =>
    Array.from({ length: count }, (_, index) => special[index] ?? `Filler sentence number ${index} without a fact.`);

  test("the newest messages are read first, and nothing is read twice or left out", async () => {
    const texts = fill(300, { 5: "My bike is called Rocket.", 295: "My boat is called Nessie." });
    const { varve, session } = await importChat("backwards", texts);
    const seen: number[] = [];
    const order: string[] = [];
    varve.onEvent(() => undefined);
    for (;;) {
      const batches = await varve.memory.extract(session as Session);
      if (batches.length === 0) break;
      seen.push(...batches.map((one) => one.messages));
      for (const { applied } of batches) for (const { memory } of applied) if (memory) order.push(memory);
    }
    expect(seen.reduce((sum, count) => sum + count, 0)).toBe(300);
    const { memories } = await varve.memory.list({ agent: "backwards" });
    const names = order.map((id) => memories.find((one) => one.id === id)?.abstract);
    expect(names).toEqual(["My boat is called Nessie.", "My bike is called Rocket."]);
    expect((await varve.memory.stats({ agent: "backwards" })).unread).toEqual({ conversations: 0, messages: 0 });
    // A message of today is read next, although the history was read backwards.
    await varve.context.ingest(session, [{ role: "user", content: "My car is called Bertha." }]);
    await varve.memory.extract(session);
    expect((await varve.memory.list({ agent: "backwards" })).total).toBe(3);
  });

  test("what changed is believed in the order it was said, not in the order it was read", async () => {
    const texts = fill(200, {
      3: "I live in Ghent.",
      50: "I like jazz.",
      120: "I moved to Antwerp.",
      190: "I no longer like jazz.",
    });
    const { varve, session } = await importChat("changes", texts);
    while ((await varve.memory.extract(session)).length > 0);
    const current = (await varve.memory.list({ agent: "changes" })).memories.map((one) => one.abstract);
    expect(current).toContain("I moved to Antwerp.");
    expect(current).not.toContain("I live in Ghent.");
    expect(current).not.toContain("I like jazz.");
    const all = await varve.memory.list({ agent: "changes", includeHistory: true });
    expect(all.memories.map((one) => one.abstract)).toContain("I live in Ghent.");
    expect(all.memories.map((one) => one.abstract)).toContain("I like jazz.");
  });

  test("the jobs of an import read the newest conversation first, and a broken-off one goes on", async () => {
    const { clock, home } = get();
    const varve = await get().another();
    const files = [900, 1, 300].map((age, index) => {
      const file = join(home, `chat-${index}.jsonl`);
      const line = { id: `c${index}`, role: "user", content: `My pet number ${index} is called Pet${index}.` };
      writeFileSync(file, `${JSON.stringify({ ...line, timestamp: clock.now() - age * day })}\n`);
      return file;
    });
    await varve.import(files, { source: "jsonl", agent: "ages" });
    clock.advance(121_000);
    await varve.jobs.drain();
    expect((await varve.memory.list({ agent: "ages" })).total).toBe(1);
    clock.advance(1_000_000);
    await varve.jobs.drain();
    const { memories } = await varve.memory.list({ agent: "ages" });
    const inOrder = memories.toReversed().map((one) => one.abstract.at(-2));
    expect(inOrder).toEqual(["1", "2", "0"]);
  });

  test("a model reads imported history only when the settings say so, 100 calls a day", async () => {
    const { clock } = get();
    const script = new ScriptedModel();
    const texts = fill(400, {});
    const byRules = await importChat("free", texts, { models: { memory: script.generate } });
    clock.advance(1_000_000);
    await byRules.varve.jobs.drain();
    expect(script.requests).toHaveLength(0);
    const config = { memory: { extractImports: "model" as const, importCallsPerDay: 3 } };
    const byModel = await importChat("paid", texts, { models: { memory: script.generate }, config });
    clock.advance(1_000_000);
    await byModel.varve.jobs.drain();
    expect(script.requests).toHaveLength(3);
    expect((await byModel.varve.memory.stats({ agent: "paid" })).unread.messages).toBe(400 - 3 * 40);
    const [job] = (await byModel.varve.jobs.list({ agent: "paid" })).filter((one) => one.kind === "extract import");
    expect(job?.error).toContain("3 calls per day for imported history");
    clock.advance(day);
    await byModel.varve.jobs.drain();
    expect(script.requests).toHaveLength(6);
  });

  test("maintenance reads history that was imported before, and off reads none of it", async () => {
    const { clock } = get();
    const { varve } = await importChat("kept", fill(60, { 3: "My kite is called Zephyr." }));
    clock.advance(2 * day);
    const off = await get().another({ config: { memory: { extractImports: "off" } } });
    await off.memory.maintain();
    expect((await varve.memory.list({ agent: "kept" })).total).toBe(0);
    await varve.memory.maintain();
    expect((await varve.memory.list({ agent: "kept" })).total).toBe(1);
  });
});
