/** A changed model: the previous vectors are searched until the new ones cover as much, and those of two models never meet. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { OpenOptions, Varve } from "../../src/index.ts";
import { onEveryEngine } from "../support/engines.ts";
import { WordEmbedder } from "../support/word-embedder.ts";

const meanings = { feline: "cat", kitten: "cat", automobile: "car", vehicle: "car" };
const old = new WordEmbedder(meanings);
const young = new WordEmbedder(meanings, "young");
const [oldName, youngName] = ["test/words/256", "test/young/256"];
const hour = 3_600_000;
/** A search embeds nothing by itself, so that every state of the change can be looked at. */
const search = { freshMax: 0, instant: false };

const changed: OpenOptions = {
  models: { embedder: young, earlierEmbedders: [old] },
  config: { search },
};

onEveryEngine(
  "a changed model",
  (get) => {
    afterEach(() => {
      for (const one of [old, young]) Object.assign(one, { failing: false, queries: 0, texts: 0 });
    });

    const filled = async (agent: string, count = 50): Promise<void> => {
      const { varve } = get();
      const session = await varve.sessions.resolve({ key: `agent:${agent}:test:direct:ann` });
      const messages = Array.from({ length: count }, (_, index) => ({
        // The newest are embedded first, so the message with the cat is among them.
        id: `m${count - 1 - index}`,
        role: "user" as const,
        content:
          count - 1 - index === 3 ? "The cat sleeps upstairs." : `Stone number ${index} lies in river ${index * 7}.`,
      }));
      await varve.context.ingest(session, messages);
      await varve.search.index({ agent });
    };
    const say = async (varve: Varve, agent: string, id: string, content: string) => {
      const session = await varve.sessions.resolve({ key: `agent:${agent}:test:direct:ann` });
      await varve.context.ingest(session, [{ id, role: "user", content }]);
    };
    /** Embeds one page and is stopped. */
    const indexSome = async (varve: Varve, agent: string) => {
      const stop = new AbortController();
      const done = await varve.search.index({ agent, signal: stop.signal, onProgress: () => stop.abort() });
      expect(done).toMatchObject({ status: "stopped", embedded: 32 });
    };
    const asked = () => ({ old: old.queries, young: young.queries });

    test("searches the previous vectors with their model, then all of the new, and goes on so", async () => {
      await filled("main");
      const varve = await get().another(changed);
      const find = () => varve.search.find("feline", { kinds: ["message"], limit: 1 });
      const before = await find();
      expect(before).toMatchObject({ mode: "hybrid", results: [{ id: "m3", sources: ["vector"] }] });
      expect(before.degraded).toEqual([
        expect.stringContaining(`the vectors of ${oldName} are searched until ${youngName} has embedded as much`),
      ]);
      expect((await varve.status()).search).toMatchObject({ model: youngName, serving: oldName, vectors: 0 });
      await indexSome(varve, "main");
      expect(await find(), "what the new model made changes nothing").toEqual(before);
      expect(
        await varve.search.findMessages({ visibility: { agent: "main" }, prompt: "feline", limit: 1 }),
      ).toHaveLength(1);
      expect(asked()).toEqual({ old: 3, young: 0 });
      await say(varve, "main", "late", "An automobile stands in the yard.");
      expect((await varve.search.find("yard", { kinds: ["message"] })).results[0]).toMatchObject({ id: "late" });
      const unseen = await varve.search.find("vehicle", { kinds: ["message"] });
      expect(unseen.results.map(({ id }) => id)).not.toContain("late");

      await varve.search.index({ agent: "main" });
      old.queries = 0;
      const after = await find();
      expect(after).toMatchObject({ mode: "hybrid", degraded: [], results: [{ id: "m3", sources: ["vector"] }] });
      const seen = await varve.search.find("vehicle", { kinds: ["message"] });
      expect(seen.results.map(({ id }) => id)).toContain("late");
      expect(old.queries).toBe(0);
      const { serving, earlier } = await varve.search.coverage();
      expect({ serving, earlier }).toEqual({ serving: youngName, earlier: [{ model: oldName, vectors: 50 }] });
      await say(varve, "main", "later", "A kitten came along.");
      expect((await find()).degraded, "what is only behind is no reason to go back").toEqual([
        expect.stringContaining("1 messages are not embedded yet"),
      ]);
      expect(old.queries).toBe(0);
    });

    test("is over for the next process too, and only then are the old vectors removed", async () => {
      await filled("swept");
      await filled("waiting");
      const varve = await get().another(changed);
      await varve.search.index({ agent: "swept" });
      expect(await varve.search.prune()).toEqual({
        removed: 0,
        kept: [{ model: oldName, because: "it was written to within the last hour; another process may use it" }],
      });
      get().clock.advance(2 * hour);
      const { removed, kept } = await varve.search.prune();
      expect(removed).toBeGreaterThanOrEqual(50);
      expect(kept).toEqual([
        { model: oldName, because: "the current model has not embedded as much yet; run `varve index`" },
      ]);
      const next = await get().another(changed);
      const query = (agent: string) => next.search.find("feline", { agent, kinds: ["message"], limit: 1 });
      expect(await query("swept")).toMatchObject({ degraded: [], results: [{ id: "m3" }] });
      expect(old.queries).toBe(0);
      expect(await query("waiting")).toMatchObject({ results: [{ id: "m3" }] });
      expect(old.queries).toBe(1);
      await next.search.index();
      await next.search.prune();
      expect((await next.search.coverage()).earlier).toEqual([]);
      expect(await query("waiting")).toMatchObject({ degraded: [], results: [{ id: "m3" }] });
    });

    test("says so when the previous model is no longer available, and searches words and the new vectors", async () => {
      await filled("gone");
      const varve = await get().another({ ...changed, models: { embedder: young } });
      const query = { agent: "gone", kinds: ["message" as const] };
      const answer = await varve.search.find("feline", query);
      expect(answer.results).toEqual([]);
      expect(answer.degraded.join()).toContain(`the model of ${oldName} is no longer available`);
      await indexSome(varve, "gone");
      expect((await varve.search.find("feline", query)).results[0]).toMatchObject({ id: "m3" });
      expect(asked()).toEqual({ old: 0, young: expect.any(Number) });
      expect((await varve.search.find("river", query)).results.length).toBeGreaterThan(0);
    });

    test("searches by words when the previous model fails, then by the new vectors, and comes back to it", async () => {
      await filled("fails");
      const varve = await get().another(changed);
      await indexSome(varve, "fails");
      const find = () => varve.search.find("feline", { agent: "fails", kinds: ["message"], limit: 1 });
      old.failing = true;
      expect((await find()).degraded.join()).toContain("the model is away");
      const meanwhile = await find();
      expect(meanwhile).toMatchObject({ mode: "hybrid", results: [{ id: "m3" }] });
      expect(meanwhile.degraded.join()).toContain(`the model of ${oldName} failed a moment ago`);
      expect(young.queries).toBe(1);
      old.failing = false;
      get().clock.advance(61_000);
      await find();
      expect(asked()).toEqual({ old: 1, young: 1 });
    });

    test("holds for files of the corpus, where nothing was ever said", async () => {
      const folder = join(get().home, "notes");
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "pets.md"), "# Pets\n\nThe cat has a red collar.\n");
      const corpus = [{ name: "notes", path: folder, agent: "reader" }];
      const open = (models: OpenOptions["models"]) =>
        get().another({ models, config: { search: { ...search, corpus } } });
      const before = await open({ embedder: old });
      await before.search.sync();
      await before.search.index({ agent: "reader" });
      const varve = await open(changed.models);
      const query = { agent: "reader", kinds: ["chunk" as const] };
      old.queries = 0;
      expect((await varve.search.find("feline", query)).results).toHaveLength(1);
      expect(asked()).toEqual({ old: 1, young: 0 });
      await varve.search.index({ agent: "reader" });
      expect(await varve.search.find("feline", query)).toMatchObject({ degraded: [], results: [{ kind: "chunk" }] });
      expect(asked()).toEqual({ old: 1, young: 1 });
    });

    test("holds for memories", async () => {
      const as = { agent: "keeper" };
      const { memory } = await get().varve.memory.add({ ...as, text: "A kitten lives at the harbour." });
      await get().varve.search.index();
      const varve = await get().another(changed);
      const recall = () => varve.memory.recall({ ...as, query: "feline", limit: 1 });
      const found = await recall();
      expect(found).toMatchObject({ mode: "words and vectors", hits: [{ memory: { id: memory } }] });
      expect(found.note).toContain(`the vectors of ${oldName} are searched until ${youngName}`);
      expect(asked()).toEqual({ old: 1, young: 0 });
      const without = await get().another({ ...changed, models: { embedder: young } });
      const blind = await without.memory.recall({ ...as, query: "feline", limit: 1 });
      expect(blind.hits).toEqual([]);
      expect(blind.note).toContain("is no longer available");
      await varve.search.index();
      const after = await recall();
      expect(after).toMatchObject({ hits: [{ memory: { id: memory } }] });
      expect(after.note).toBeUndefined();
      expect(asked().old).toBe(1);
      get().clock.advance(2 * hour);
      expect((await varve.search.prune()).kept).toEqual([]);
      expect((await recall()).hits).toHaveLength(1);
    });
  },
  { models: { embedder: old }, config: { search } },
);
