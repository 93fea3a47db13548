/** Doubtful memories: found when asked for, never brought up unasked, confirmed by repetition or review, dropped in time. */
import { expect, test } from "vitest";
import type { Varve } from "../../src/index.ts";
import { onEveryEngine } from "../support/engines.ts";
import { ScriptedModel } from "../support/scripted-memory-model.ts";

const day = 86_400_000;

onEveryEngine("tentative memories", (get) => {
  const script = new ScriptedModel();
  const museum = "Last spring somebody visited the museum of clocks";
  const open = async (admission = {}): Promise<Varve> =>
    get().another({
      models: { memory: script.generate },
      config: { memory: { admission: "conservative" }, advanced: { memory: { admission } } },
    });

  /** Extracts one doubtful fact into an agent's scope. */
  const extractDoubtful = async (varve: Varve, agent: string, turn: string) => {
    const session = await varve.sessions.resolve({ key: `agent:${agent}:chat:direct:e`, owner: true });
    script.notes = [
      { in: "museum", category: "events", abstract: museum },
      { in: "soup", category: "events", abstract: "zzz qqq www" },
    ];
    script.utility = 0.5;
    await varve.context.commitTurn(session, turn, [
      { role: "user", content: "Then the museum of clocks in spring." },
      { role: "assistant", content: `Noted for ${turn}.` },
    ]);
    return varve.memory.extract(session);
  };
  const broughtUp = async (varve: Varve, agent: string) => {
    const prompt = "Did somebody visit the museum of clocks last spring?";
    const request = { agent, prompt, memoriesMax: 5, passagesMax: 0, kinds: ["chunk" as const] };
    return (await varve.memory.recallForPrompt(request)).memories.map((hit) => hit.memory.abstract);
  };
  const asked = async (varve: Varve, agent: string) =>
    (await varve.memory.recall({ agent, query: "museum of clocks" })).hits;

  test("a doubtful fact is found when asked for and never brought up unasked", async () => {
    const varve = await open();
    const [batch] = await extractDoubtful(varve, "doubt", "one");
    expect(batch).toMatchObject({ held: 1 });
    expect((await asked(varve, "doubt")).map((hit) => [hit.memory.abstract, hit.tentative])).toEqual([[museum, true]]);
    expect(await broughtUp(varve, "doubt")).toEqual([]);
    expect((await varve.memory.stats({ agent: "doubt" })).held).toBe(1);
  });

  test("a review confirms it under the same id, and rejecting forgets it", async () => {
    const varve = await open();
    for (const agent of ["accepted", "rejected"] as const) {
      await extractDoubtful(varve, agent, "one");
      const [review] = await varve.memory.reviews({ agent });
      const done = await varve.memory.decide(review?.id ?? "", agent, { agent });
      if (agent === "accepted") expect(done?.memory).toBe(review?.memory);
      expect(await broughtUp(varve, agent)).toEqual(agent === "accepted" ? [museum] : []);
      expect(await asked(varve, agent)).toHaveLength(agent === "accepted" ? 1 : 0);
      expect(await varve.memory.reviews({ agent })).toEqual([]);
    }
  });

  test("the same said again in another message confirms it", async () => {
    const varve = await open();
    await extractDoubtful(varve, "repeated", "one");
    await extractDoubtful(varve, "repeated", "two");
    expect(await broughtUp(varve, "repeated")).toEqual([museum]);
    expect(await varve.memory.reviews({ agent: "repeated" })).toEqual([]);
    expect((await varve.memory.list({ agent: "repeated" })).total).toBe(1);
  });

  test("a person who stores the same fact confirms it", async () => {
    const varve = await open();
    await extractDoubtful(varve, "stored", "one");
    const { decision } = await varve.memory.add({ agent: "stored", text: museum });
    expect(decision).toBe("skip");
    expect(await broughtUp(varve, "stored")).toEqual([museum]);
  });

  test("without a confirmation it is gone after 30 days, and its history stays", async () => {
    const { clock } = get();
    const varve = await open();
    await extractDoubtful(varve, "late", "one");
    clock.advance(30 * day + 1);
    expect(await asked(varve, "late")).toEqual([]);
    expect(await varve.memory.reviews({ agent: "late" })).toEqual([]);
    expect((await varve.memory.maintain()).dropped).toBeGreaterThanOrEqual(1);
    const { memories } = await varve.memory.list({ agent: "late", includeHistory: true });
    expect(memories).toMatchObject([{ abstract: museum, forgottenAt: clock.now() }]);
  });

  test("a doubtful value never replaces a believed one; both are linked", async () => {
    const varve = await open({ rejectBelow: 0, admitFrom: 1 });
    const agent = "safe";
    const known = await varve.memory.add({ agent, text: "The port of the shop is 8080." });
    const session = await varve.sessions.resolve({ key: `agent:${agent}:chat:direct:e`, owner: true });
    script.notes = [{ in: "9090", category: "events", abstract: "The port of the shop is 9090" }];
    await varve.context.commitTurn(session, "one", [{ role: "user", content: "The port of the shop is 9090." }]);
    const [batch] = await varve.memory.extract(session);
    expect(batch).toMatchObject({ held: 1 });
    const { memories } = await varve.memory.list({ agent });
    expect(memories.find((one) => one.id === known.current.id)?.invalidatedAt).toBeUndefined();
    const { hits } = await varve.memory.recall({ agent, query: "port of the shop" });
    expect(hits.map((hit) => hit.conflicts?.length)).toEqual([1, 1]);
  });

  test("what admission refuses is listed, and can still be accepted", async () => {
    const varve = await open();
    const agent = "refused";
    const session = await varve.sessions.resolve({ key: `agent:${agent}:chat:direct:e`, owner: true });
    script.notes = [{ in: "soup", category: "events", abstract: "Soup was part of some lunch with other things" }];
    script.utility = 0;
    await varve.context.commitTurn(session, "one", [
      { role: "user", content: "For lunch we had bread and soup with friends and their children at noon." },
    ]);
    await varve.memory.extract(session);
    expect(await varve.memory.reviews({ agent })).toEqual([]);
    expect((await varve.memory.list({ agent })).total).toBe(0);
    const [refused] = await varve.memory.reviews({ agent, refused: true });
    expect(refused).toMatchObject({ state: "refused", candidate: { abstract: expect.stringContaining("Soup") } });
    await varve.memory.decide(refused?.id ?? "", "accepted", { agent });
    expect((await varve.memory.list({ agent })).total).toBe(1);
    expect(await varve.memory.reviews({ agent, refused: true })).toEqual([]);
  });
});
