/** A batch is written whole or not at all, and the job goes on; admission, budgets and vectors. */
import { beforeEach, expect, test } from "vitest";
import { VarveError } from "../../src/domain/index.ts";
import { type Embedder, type OpenOptions, openVarve, type StoreTap, type Varve } from "../../src/index.ts";
import { onEveryEngine } from "../support/engines.ts";
import { ScriptedModel } from "../support/scripted-memory-model.ts";

const script = new ScriptedModel();
const failuresMax = 200;

onEveryEngine("memory batches", (get) => {
  beforeEach(() => script.reset());
  const open = (options: OpenOptions): Promise<Varve> => {
    const { home, database, clock } = get();
    return openVarve({ home, database, clock, background: false, ...options });
  };
  const facts = [
    ["alpha", "The alpha door has code one."],
    ["beta", "The beta door has code two."],
    ["gamma", "The gamma door has code three."],
  ] as const;

  test("a failure at any step of a batch leaves all of it or nothing, and the job resumes", async () => {
    const { varve, clock } = get();
    let [calls, failsAt] = [0, 0];
    const tap: StoreTap = {
      before() {
        calls += 1;
        if (calls === failsAt) throw new VarveError("STORE_UNREACHABLE", "The store went away.");
      },
    };
    const config = { context: { enabled: false } };
    const working = await open({ tap, models: { memory: script.generate }, config });
    script.notes = facts.map(([name, abstract]) => ({ in: `${name} door`, category: "entities", abstract }));
    const outcomes = new Set<number>();
    for (let step = 1; ; step += 1) {
      const agent = `crash${step}`;
      const session = await working.sessions.resolve({ key: `agent:${agent}:chat:direct:c`, owner: true });
      await working.context.commitTurn(
        session,
        agent,
        facts.map(([, text], index) => ({ id: `m${index}`, role: "user", content: `Remember: ${text}` })),
      );
      [calls, failsAt] = [0, step];
      await working.jobs.drain().catch(() => undefined);
      const wasReached = calls >= step;
      failsAt = 0;
      const { total } = await varve.memory.list({ agent });
      expect([0, 3], `after a failure at call ${step}`).toContain(total);
      outcomes.add(total);
      // A worker that died is replaced when its lease is over.
      clock.advance(3_600_000);
      await working.jobs.drain();
      const after = await varve.memory.list({ agent });
      expect(after.total, `resumed after call ${step}`).toBe(3);
      expect(after.memories.every((one) => one.sources.length === 1 && one.support.general?.confirmed === 1)).toBe(
        true,
      );
      if (!wasReached) break;
      expect(step).toBeLessThan(failuresMax);
    }
    await working.close();
    // Every step was tried, and there were failures before the batch was written and behind it.
    expect(outcomes).toEqual(new Set([0, 3]));
  }, 120_000);

  test("two workers at the same conversation write its memories once", async () => {
    const { varve } = get();
    const agent = "twice";
    const session = await varve.sessions.resolve({ key: `agent:${agent}:chat:direct:d`, owner: true });
    await varve.context.ingest(
      session,
      facts.map(([, text], index) => ({ id: `m${index}`, role: "user", content: `Remember: ${text}` })),
    );
    const others = await Promise.all([open({}), open({}), open({})]);
    await Promise.all(others.map((one) => one.memory.extract(session)));
    await Promise.all(others.map((one) => one.close()));
    const { memories } = await varve.memory.list({ agent });
    expect(memories).toHaveLength(3);
    expect(memories.every((one) => one.support.general?.confirmed === 1)).toBe(true);
  });

  test("admission holds what is doubtful for a person, who takes it in or turns it away", async () => {
    const admitting = await open({
      models: { memory: script.generate },
      config: { memory: { admission: "conservative" } },
    });
    const as = { agent: "gate" };
    const session = await admitting.sessions.resolve({ key: "agent:gate:chat:direct:e", owner: true });
    script.notes = [
      { in: "bicycle", category: "profile", abstract: "Rides a bicycle to work every day" },
      { in: "museum", category: "events", abstract: "Last spring somebody visited the museum of clocks" },
      { in: "lunch", category: "events", abstract: "Bread was part of some lunch once" },
      { in: "theatre", category: "events", abstract: "A theatre was seen in the old town at night" },
    ];
    script.utility = 0.5;
    await admitting.context.commitTurn(session, "gate", [
      { role: "user", content: "I ride a bicycle to work every day." },
      { role: "user", content: "Then the museum of clocks in spring." },
      { role: "user", content: "For lunch we had bread and soup with some friends and their children at noon." },
      { role: "user", content: "The theatre in the old town was nice." },
    ]);
    const [batch] = await admitting.memory.extract(session);
    const listBelieved = async () =>
      (await admitting.memory.list(as)).memories.filter((one) => one.tentativeUntil === undefined);
    expect((await listBelieved()).map((one) => one.category)).toEqual(["profile"]);
    const reviews = await admitting.memory.reviews(as);
    expect(reviews.length).toBe(batch?.held);
    expect(reviews.length).toBeGreaterThanOrEqual(2);
    for (const one of reviews) {
      expect(one.score).toBeGreaterThanOrEqual(0.52);
      expect(one.score).toBeLessThan(0.68);
    }
    expect((await admitting.memory.stats(as)).held).toBe(reviews.length);
    expect(await admitting.memory.reviews({ agent: "stranger" })).toEqual([]);
    const [first, second] = reviews.map((one) => one.id);
    await expect(admitting.memory.decide(first ?? "", "accepted", { agent: "stranger" })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    expect(await admitting.memory.decide(first ?? "", "accepted", as)).toMatchObject({ decision: "create" });
    expect(await admitting.memory.decide(second ?? "", "rejected", as)).toBeUndefined();
    await expect(admitting.memory.decide(first ?? "", "accepted", as)).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await listBelieved()).toHaveLength(2);
    await admitting.close();
  });

  test("a budget that is used up makes the work wait, and nothing is lost", async () => {
    const { clock } = get();
    const thrifty = await open({ models: { memory: script.generate }, config: { memory: { callsPerHour: 1 } } });
    const as = { agent: "thrift" };
    const session = await thrifty.sessions.resolve({ key: "agent:thrift:chat:direct:f", owner: true });
    for (const [name, abstract] of facts) {
      script.notes.push({ in: `${name} door`, category: "entities", abstract });
      await thrifty.context.commitTurn(session, name, [{ role: "user", content: `Remember: ${abstract}` }]);
      await thrifty.jobs.drain();
    }
    expect(script.requests).toHaveLength(1);
    expect((await thrifty.memory.list(as)).total).toBe(1);
    const { failedJobs, jobs } = await thrifty.status();
    expect(jobs).toEqual({ waiting: 1 });
    expect(failedJobs[0]?.error).toContain("1 calls per hour");
    clock.advance(3_600_001);
    await thrifty.jobs.drain();
    expect((await thrifty.memory.list(as)).total).toBe(3);
    expect((await thrifty.status()).jobs).toEqual({});
    await thrifty.close();
  });

  test("vectors find what words do not; where they fail, words alone are compared and a search says so", async () => {
    let isDown = false;
    const meanings = [/cat|feline|kitten/i, /car|vehicle|drive/i, /tea|drink|coffee/i];
    const embedText = (text: string) => {
      if (isDown) throw new Error("no vectors today");
      return { vector: Float32Array.from([...meanings.map((one) => (one.test(text) ? 1 : 0)), 0.1]), cut: false };
    };
    const embedder: Embedder = {
      space: { provider: "test", model: "three", dimensions: 4, tokenDimensions: 0 },
      embed: async (texts) => texts.map(({ text }) => embedText(text)),
      embedQuery: async (text) => embedText(text),
      close: () => Promise.resolve(),
    };
    const seeing = await open({ models: { embedder } });
    const as = { agent: "vector" };
    await seeing.memory.add({ ...as, text: "Owns a ginger kitten." });
    await seeing.memory.add({ ...as, text: "The vehicle is parked in the yard." });
    await seeing.search.index();
    const found = await seeing.memory.recall({ ...as, query: "feline", limit: 1 });
    expect(found).toMatchObject({
      mode: "words and vectors",
      hits: [{ memory: { content: "Owns a ginger kitten." } }],
    });
    isDown = true;
    const session = await seeing.sessions.resolve({ key: "agent:vector:chat:direct:g", owner: true });
    await seeing.context.commitTurn(session, "v", [{ role: "user", content: "Remember that the tea is green." }]);
    await seeing.jobs.drain();
    expect((await seeing.memory.list(as)).total).toBe(3);
    const byWords = await seeing.memory.recall({ ...as, query: "kitten" });
    expect(byWords).toMatchObject({ mode: "words", note: expect.stringContaining("no vectors today") });
    expect(byWords.hits).toHaveLength(1);
    isDown = false;
    await seeing.search.index();
    expect((await seeing.memory.recall({ ...as, query: "drink", limit: 1 })).hits).toMatchObject([
      { memory: { content: expect.stringContaining("tea is green") } },
    ]);
    await seeing.close();
  });

  test("upkeep merges what says the same, keeps every version, and moves tiers", async () => {
    const { varve, clock } = get();
    const as = { agent: "upkeep" };
    for (const text of ["The lighthouse keeper is called Tom.", "The lighthouse keeper is called Tom!"]) {
      await varve.memory.add({ ...as, text, force: true });
      clock.advance(1_000);
    }
    await varve.memory.add({ ...as, text: "The harbour has 3 cranes." });
    expect(await varve.memory.maintain()).toMatchObject({ merged: 1 });
    const { memories } = await varve.memory.list(as);
    expect(memories).toHaveLength(2);
    expect((await varve.memory.list({ ...as, includeHistory: true })).total).toBe(4);
    expect(await varve.memory.maintain()).toMatchObject({ merged: 0 });
    clock.advance(61 * 86_400_000);
    const { moved } = await varve.memory.maintain();
    expect(moved["working → peripheral"]).toBeGreaterThanOrEqual(2);
    expect((await varve.memory.list(as)).memories.map((one) => one.tier)).toEqual(["peripheral", "peripheral"]);
  });
});
