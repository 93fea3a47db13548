import { expect, test } from "vitest";
import type { Varve } from "../../src/index.ts";
import { onEveryEngine } from "../support/engines.ts";
import { WordEmbedder } from "../support/word-embedder.ts";

const embedder = new WordEmbedder({});
/** A search embeds nothing with the model by itself, so that every state can be looked at. */
const search = { freshMax: 0 };

onEveryEngine(
  "the instant tier",
  (get) => {
    const fill = async (agent: string, count: number): Promise<void> => {
      const { varve } = get();
      const session = await varve.sessions.resolve({ key: `agent:${agent}:test:direct:ann` });
      const messages = Array.from({ length: count }, (_, index) => ({
        id: `m${index}`,
        role: "user" as const,
        content: index === 2 ? "The dog barked all night long." : `Invoice ${index} was paid in full.`,
      }));
      await varve.context.ingest(session, messages);
    };
    /** Has the model embed one page and is stopped. */
    const embedPage = async (varve: Varve, agent: string) => {
      const stop = new AbortController();
      await varve.search.index({ agent, tier: "model", signal: stop.signal, onProgress: () => stop.abort() });
    };
    const find = (agent: string, query: string) =>
      get().varve.search.find(query, { agent, kinds: ["message"], limit: 3 });

    test("finds by meaning before the model has embedded anything, and says so", async () => {
      await fill("fresh", 5);
      const answer = await find("fresh", "noisy puppy");
      expect(answer).toMatchObject({ mode: "hybrid", tiers: ["instant"], results: [{ id: "m2", tier: "instant" }] });
      expect(answer.degraded.join()).toContain(
        "5 messages are not embedded yet and match by words and instant vectors",
      );
      expect((await get().varve.search.coverage()).instantVectors).toBeGreaterThanOrEqual(5);
    });

    test("a search without time to add instant vectors says which messages match by words only", async () => {
      await fill("hurried", 5);
      const request = { agent: "hurried", kinds: ["message" as const], tier: "instant" as const };
      const hurried = await get().varve.search.find("noisy puppy", { ...request, vectorWaitMs: 0 });
      expect(hurried.degraded.join()).toContain("some messages have no instant vector yet");
      const patient = await get().varve.search.find("noisy puppy", request);
      expect([patient.results[0]?.id, patient.degraded]).toEqual(["m2", []]);
    });

    test("the model embeds the newest messages first; the rest is found by instant vectors", async () => {
      await fill("half", 50);
      await embedPage(get().varve, "half");
      const answer = await find("half", "noisy puppy");
      expect(answer.results.find(({ id }) => id === "m2")).toMatchObject({ tier: "instant" });
      const invoice = await find("half", "invoice 49");
      expect(invoice.results.find(({ id }) => id === "m49")).toMatchObject({ tier: "model" });
    });

    test("a message that a search found is embedded next, before newer ones", async () => {
      await fill("asked", 120);
      await embedPage(get().varve, "asked");
      await find("asked", "noisy puppy");
      await embedPage(get().varve, "asked");
      expect((await find("asked", "dog barked")).results[0]).toMatchObject({ id: "m2", tier: "model" });
    });

    test("once the model has embedded everything, it alone serves, and every message has one vector of it", async () => {
      await fill("whole", 40);
      await embedPage(get().varve, "whole");
      expect((await find("whole", "noisy puppy")).tiers).toContain("instant");
      const done = await get().varve.search.index({ agent: "whole" });
      expect(done).toMatchObject({ status: "done", embedded: 8 });
      const answer = await find("whole", "dog barked");
      expect(answer).toMatchObject({ tiers: ["model"], degraded: [] });
      expect(answer.results[0]).toMatchObject({ id: "m2", tier: "model" });
      expect(await get().varve.search.index({ agent: "whole" })).toMatchObject({ embedded: 0, instant: 0 });
    });

    test("messages without text do not wait for the model, and new ones do", async () => {
      const { varve } = get();
      const session = await varve.sessions.resolve({ key: "agent:main:test:direct:waiting" });
      const pending = async () => (await varve.status()).search.pendingMessages;
      const call = { type: "tool_call" as const, callId: "c1", name: "look", input: {} };
      await varve.context.ingest(session, [
        { role: "user", content: "The dog barked all night." },
        { role: "user", content: "" },
        { role: "assistant", content: [call] },
      ]);
      expect(await pending()).toBeGreaterThan(0);
      await varve.search.index();
      expect(await pending()).toBe(0);
      await varve.context.ingest(session, [{ role: "user", content: "A kitten slept on the sofa." }]);
      expect(await pending()).toBe(1);
    });

    test("messages that follow a search of an agent the model had embedded are found by their instant vectors", async () => {
      await fill("followed", 5);
      await get().varve.search.index({ agent: "followed", tier: "model" });
      expect((await find("followed", "dog barked")).tiers).toEqual(["model"]);
      const session = await get().varve.sessions.resolve({ key: "agent:followed:test:direct:ann" });
      await get().varve.context.ingest(session, [{ id: "new", role: "user", content: "A kitten slept on the sofa." }]);
      const answer = await find("followed", "sleepy cat");
      expect(answer.results.find(({ id }) => id === "new")).toMatchObject({ tier: "instant" });
    });

    test("older messages that the model embeds after a search are found by the next one", async () => {
      await fill("backfilled", 300);
      const request = { agent: "backfilled", kinds: ["message" as const], retrievers: ["vector" as const] };
      const findTier = async () =>
        (await get().varve.search.find("the dog barked", request)).results.find(({ id }) => id === "m2")?.tier;
      await embedPage(get().varve, "backfilled");
      expect(await findTier()).toBe("instant");
      await get().varve.search.index({ agent: "backfilled" });
      expect(await findTier()).toBe("model");
    });

    test("a search with only the instant tier does not call the model", async () => {
      await fill("only", 5);
      await get().varve.search.index({ agent: "only" });
      embedder.queries = 0;
      const answer = await get().varve.search.find("noisy puppy", {
        agent: "only",
        kinds: ["message"],
        tier: "instant",
      });
      expect(answer).toMatchObject({ tiers: ["instant"], results: [{ id: "m2" }] });
      expect(embedder.queries).toBe(0);
    });

    test("messages that arrive while older ones wait are embedded first", async () => {
      await fill("late", 100);
      await embedPage(get().varve, "late");
      const session = await get().varve.sessions.resolve({ key: "agent:late:test:direct:ann" });
      await get().varve.context.ingest(session, [{ id: "new", role: "user", content: "A parrot sings." }]);
      await embedPage(get().varve, "late");
      expect((await find("late", "parrot sings")).results[0]).toMatchObject({ id: "new", tier: "model" });
      expect(await get().varve.search.index({ agent: "late" })).toMatchObject({ status: "done", embedded: 68 });
    });

    test("is off with search.instant: false", async () => {
      await fill("off", 5);
      const varve = await get().another({ models: { embedder }, config: { search: { ...search, instant: false } } });
      const answer = await varve.search.find("noisy puppy", { agent: "off", kinds: ["message"] });
      expect(answer).toMatchObject({ mode: "lexical", tiers: [], results: [] });
    });
  },
  { models: { embedder }, config: { search } },
);
