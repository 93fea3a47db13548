/** What counts as use, what can be opened, and what is counted. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { owner } from "../../src/index.ts";
import { openToolbox } from "../../src/tools/index.ts";
import { onEveryEngine } from "../support/engines.ts";
import { ScriptedModel } from "../support/scripted-memory-model.ts";

const script = new ScriptedModel();

onEveryEngine("use of memories", (get) => {
  const accessCount = async (agent: string, id: string) =>
    (await get().varve.memory.get(id, { agent })).memory.accessCount;
  const flush = async (agent: string) => get().varve.memory.list({ agent });

  test("being brought up and looks into the past do not count as use; asking for it does", async () => {
    const { varve, clock, another } = get();
    const agent = "used";
    const { memory: id = "" } = await varve.memory.add({ agent, text: "The spare key hangs behind the clock." });
    const session = await varve.sessions.resolve({ key: `agent:${agent}:chat:direct:u`, owner: true });
    await varve.context.ingest(session, [{ role: "user", content: "Good morning to you, assistant." }]);
    const other = await another();
    const view = await other.context.assemble(session, { budgetTokens: 8_000, prompt: "Where is the spare key?" });
    expect(JSON.stringify(view.messages)).toContain(id);
    clock.advance(1_000);
    const past = await other.memory.recall({ agent, query: "spare key", asOf: clock.now() - 500 });
    expect(past.hits).toHaveLength(1);
    await other.close();
    await flush(agent);
    expect(await accessCount(agent, id)).toBe(0);
    const third = await another();
    await third.memory.recall({ agent, query: "spare key" });
    await third.close();
    expect(await accessCount(agent, id)).toBe(1);
  });

  test("the citation of a memory is opened by memory_get and lcm_describe, and not by a stranger", async () => {
    const { varve } = get();
    const agent = "cites";
    const { memory: id = "" } = await varve.memory.add({ agent, text: "The boiler is serviced in May." });
    const toolbox = openToolbox(varve, { agent, principal: { ...owner, agents: [agent] } });
    const run = async (tool: string, input: object) => (await toolbox.find(tool)?.run(input))?.structured;
    expect(await run("memory_get", { id })).toMatchObject({ kind: "memory", text: "The boiler is serviced in May." });
    expect(await run("lcm_describe", { id })).toMatchObject({ kind: "memory", memory: { id } });
    expect(await varve.context.describe(id, { agent })).toMatchObject({ kind: "memory", memory: { id } });
    await expect(varve.context.describe(id, { agent: "stranger" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("memory_stats honours its parameters", async () => {
    const { varve } = get();
    const agent = "counts";
    await varve.memory.add({ agent, text: "The attic has a window.", category: "entities" });
    await varve.memory.add({ agent, text: "We sailed to Texel.", category: "events" });
    const toolbox = openToolbox(varve, { agent, principal: { ...owner, agents: [agent] } });
    const stats = async (input: object) => (await toolbox.find("memory_stats")?.run(input))?.structured;
    expect(await stats({ category: "events", scope: `agent:${agent}` })).toMatchObject({
      total: 1,
      byCategory: { events: 1 },
    });
    expect(await stats({ scope: `agent:${agent}`, limit: 1 })).toMatchObject({ total: 2, byCategory: { entities: 1 } });
    expect(await stats({ scope: `agent:${agent}`, limit: 1, offset: 1 })).toMatchObject({ byCategory: { events: 1 } });
  });
});

onEveryEngine("imported history", (get) => {
  test("gives memories in the background, once, and a preview writes nothing", async () => {
    const { varve, clock, home } = get();
    const file = join(home, "history.jsonl");
    const lines = ["My name is Petra.", "I live in Ghent.", "What is the weather like?"].map((content, index) =>
      JSON.stringify({ id: `h${index}`, role: "user", content, time: clock.now() - 1_000 + index }),
    );
    writeFileSync(file, `${lines.join("\n")}\n`);
    await varve.import([file], { source: "jsonl", agent: "historian" });
    const { sessions } = await varve.sessions.list({ agent: "historian" });
    const [session] = sessions;
    if (!session) throw new Error("nothing was imported");
    const preview = await varve.memory.previewExtraction(session);
    expect(preview.facts.map((one) => one.text)).toEqual(["My name is Petra.", "I live in Ghent."]);
    expect((await varve.memory.list({ agent: "historian" })).total).toBe(0);
    clock.advance(180_000);
    await varve.jobs.drain();
    expect((await varve.memory.list({ agent: "historian" })).total).toBe(2);
    await varve.memory.extract(session);
    expect((await varve.memory.list({ agent: "historian" })).total).toBe(2);
  });
});

onEveryEngine(
  "many candidates",
  (get) => {
    test("all that a model finds is kept, also more than five facts", async () => {
      const { varve } = get();
      const session = await varve.sessions.resolve({ key: "agent:many:chat:direct:m", owner: true });
      const things = ["anvil", "bellows", "chisel", "drill", "easel", "file", "gouge"];
      script.notes = things.map((thing) => ({
        in: "workshop",
        category: "entities",
        abstract: `The workshop has a ${thing}`,
      }));
      await varve.context.ingest(session, [
        { role: "user", content: `The workshop has ${things.map((thing) => `a ${thing}`).join(", ")}.` },
      ]);
      await varve.memory.extract(session);
      expect((await varve.memory.list({ agent: "many" })).total).toBe(things.length);
    });
  },
  { models: { memory: script.generate } },
);
