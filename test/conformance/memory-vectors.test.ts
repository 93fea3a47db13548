/** Memories are found by what they mean, with the embedder of the search; its vectors follow what is written. */
import { afterEach, expect, test } from "vitest";
import { onEveryEngine } from "../support/engines.ts";
import { WordEmbedder } from "../support/word-embedder.ts";

const embedder = new WordEmbedder({ kitten: "cat", feline: "cat", automobile: "car", vehicle: "car" });

onEveryEngine(
  "the vectors of memories",
  (get) => {
    afterEach(() => {
      embedder.failing = false;
    });

    test("are not waited for when something is kept, and are there when it is asked for", async () => {
      const { varve } = get();
      const as = { agent: "follows" };
      const calls = embedder.calls;
      const { memory } = await varve.memory.add({ ...as, text: "A ginger kitten sleeps upstairs." });
      expect(embedder.calls).toBe(calls);
      const before = await varve.search.coverage();
      expect(before.memoryVectors).toBe(before.memories - 1);
      const found = await varve.memory.recall({ ...as, query: "feline", limit: 1 });
      expect(found).toMatchObject({ mode: "words and vectors", hits: [{ memory: { id: memory } }] });
      expect(found.note).toBeUndefined();
      const after = (await varve.status()).search;
      expect(after.memoryVectors).toBe(after.memories);
    });

    test("are missing while the model is away, which is said, and made up for by the index", async () => {
      const { varve } = get();
      const as = { agent: "away" };
      embedder.failing = true;
      await varve.memory.add({ ...as, text: "The automobile is in the yard." });
      const found = await varve.memory.recall({ ...as, query: "yard" });
      expect(found).toMatchObject({ mode: "words", note: expect.stringContaining("the model is away") });
      expect(found.hits).toHaveLength(1);
      embedder.failing = false;
      expect((await varve.search.index()).embedded).toBeGreaterThan(0);
      const { memories, memoryVectors } = await varve.search.coverage();
      expect(memoryVectors).toBe(memories);
      const [hit] = (await varve.memory.recall({ ...as, query: "vehicle" })).hits;
      expect(hit?.memory.content).toContain("automobile");
    });

    test("do not keep a batch from being written when the model is away", async () => {
      const { varve } = get();
      const session = await varve.sessions.resolve({ key: "agent:batch:chat:direct:v" });
      embedder.failing = true;
      await varve.context.ingest(session, [{ role: "user", content: "Remember that the ferry leaves at 6." }]);
      const [batch] = await varve.memory.extract(session);
      expect(batch?.applied).toMatchObject([{ decision: "create" }]);
      expect(batch?.notes.join()).toContain("the model is away");
    });

    test("of what is believed no longer do not crowd out what is", async () => {
      const { varve, clock } = get();
      const as = { agent: "crowd" };
      let { memory: id = "" } = await varve.memory.add({ ...as, text: "The vehicle is red, said 0." });
      for (let round = 1; round <= 30; round += 1) {
        clock.advance(1_000);
        ({ id } = await varve.memory.update(id, { text: `The vehicle is red, said ${round}.` }, as));
      }
      const { hits } = await varve.memory.recall({ ...as, query: "automobile", limit: 3 });
      expect(hits.map((hit) => hit.memory.id)).toEqual([id]);
      const old = await varve.memory.recall({ ...as, query: "automobile", limit: 50, includeHistory: true });
      expect(old.hits).toHaveLength(31);
    });

    test("of what was purged are gone, and another scope never sees any", async () => {
      const { varve, another } = get();
      const as = { agent: "owner" };
      const { memory: id = "" } = await varve.memory.add({ ...as, text: "The kitten has a secret door." });
      expect((await varve.memory.recall({ ...as, query: "feline" })).hits).toHaveLength(1);
      expect((await varve.memory.recall({ agent: "stranger", query: "feline" })).hits).toEqual([]);
      const { memoryVectors } = await varve.search.coverage();
      await varve.memory.forget({ id }, { ...as, purge: true });
      expect((await varve.search.coverage()).memoryVectors).toBe(memoryVectors - 1);
      expect((await varve.memory.recall({ ...as, query: "feline" })).hits).toEqual([]);
      const fresh = await another();
      expect((await fresh.memory.recall({ ...as, query: "feline" })).hits).toEqual([]);
      await fresh.close();
    });

    test("made by another process are seen", async () => {
      const { varve, another } = get();
      const as = { agent: "shared" };
      await varve.memory.recall({ ...as, query: "cat" });
      const other = await another();
      await other.memory.add({ ...as, text: "A kitten came by." });
      await other.search.index();
      const [hit] = (await varve.memory.recall({ ...as, query: "feline" })).hits;
      expect(hit?.memory.content).toBe("A kitten came by.");
      await other.close();
    });
  },
  { models: { embedder } },
);
