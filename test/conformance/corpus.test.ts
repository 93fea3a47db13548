import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import type { Varve } from "../../src/index.ts";
import { onEveryEngine } from "../support/engines.ts";
import { WordEmbedder } from "../support/word-embedder.ts";

const folder = mkdtempSync(join(tmpdir(), "varve-corpus-"));
const embedder = new WordEmbedder({ plane: "flight" });
const write = (path: string, text: string) => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
};
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const config = {
  search: {
    workspace: join(folder, "workspace"),
    corpus: [{ name: "docs", path: join(folder, "docs") }],
    chunkTokens: 50,
    chunkOverlap: 10,
  },
};

onEveryEngine(
  "the corpus",
  (get) => {
    const search: Pick<Varve["search"], "find" | "sync" | "read"> = {
      find: (query, request) => get().varve.search.find(query, request),
      sync: (options) => get().varve.search.sync(options),
      read: (path, request) => get().varve.search.read(path, request),
    };
    const filler = Array.from({ length: 12 }, (_, index) => `Line ${index} about nothing of note.`).join("\n");
    const found = async (query: string, more: object = {}) =>
      (await search.find(query, { kinds: ["chunk"], ...more })).results.map((result) => result.citation);

    beforeEach(async () => {
      rmSync(join(folder, "workspace"), { recursive: true, force: true });
      rmSync(join(folder, "docs"), { recursive: true, force: true });
      write("workspace/MEMORY.md", "# Likes\n\nAnn likes oat milk.\n");
      write("workspace/memory/2026-01-02.md", "The flight leaves on Friday.\n");
      write("workspace/other.md", "oat milk is not here: this file is no note.\n");
      write("docs/guide.md", `# Guide\n\n${filler}\n\n## Boiler\n\nTurn the red valve of the boiler first.\n`);
      await search.sync();
    });

    test("is found by words and by meaning, cited by its lines", async () => {
      const answer = await search.find("oat milk", { kinds: ["chunk"] });
      expect(answer.results[0]).toMatchObject({
        kind: "chunk",
        citation: "MEMORY.md#L1-L3",
        snippet: expect.stringContaining("Ann likes oat milk."),
        sessionKey: null,
      });
      expect(answer.results.map((result) => result.citation).join()).not.toContain("other.md");
      const [valve] = await found("red valve boiler");
      expect(valve).toMatch(/^docs\/guide\.md#L\d+-L\d+$/);
      expect((await search.read(valve ?? "")).text).toContain("Turn the red valve");
      const byMeaning = await search.find("plane", { kinds: ["chunk"] });
      expect(byMeaning.results[0]).toMatchObject({ citation: "memory/2026-01-02.md#L1-L1", sources: ["vector"] });
      expect(byMeaning.results[0]?.time).toBe(Date.UTC(2026, 0, 2));
    });

    test("is found together with messages, only for its own agent and outside of sessions", async () => {
      const session = await get().varve.sessions.resolve({ key: "agent:main:test:direct:notes", owner: true });
      await get().varve.context.ingest(session, [{ id: "n1", role: "user", content: "I bought oat milk today." }]);
      const kinds = (await search.find("oat milk")).results.map((result) => result.kind);
      expect(kinds).toEqual(expect.arrayContaining(["message", "chunk"]));
      const inSession = await search.find("oat milk", { session });
      expect(inSession.results.every((result) => result.kind === "message")).toBe(true);
      expect(await found("oat milk", { agent: "somebody-else" })).toEqual([]);
      await expect(search.read("MEMORY.md", { agent: "somebody-else" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    });

    test("comes with a prompt that it answers, by its lines, and again only when it changed", async () => {
      const { varve } = get();
      const session = await varve.sessions.resolve({ key: "agent:main:test:direct:valve", owner: true });
      const turn = async (user: string, assistant: string) => {
        const view = await varve.context.assemble(session, { budgetTokens: 8_000, prompt: user });
        await varve.context.commitTurn(session, `valve ${user}`, [
          { role: "user", content: user },
          { role: "assistant", content: assistant },
        ]);
        const blocks = view.messages.map((one) => String(one.content)).filter((text) => text.startsWith("<memories "));
        return { blocks, notes: view.trace.filter((item) => item.kind === "note") };
      };
      expect(await turn("Shall we have soup or noodles for dinner tonight?", "Soup.")).toEqual({
        blocks: [],
        notes: [],
      });
      const asked = await turn("Which valve of the boiler do I have to turn first?", "The red one.");
      expect(asked.blocks).toEqual([expect.stringContaining("Turn the red valve of the boiler first.")]);
      expect(asked.blocks[0]).toMatch(/\[docs\/guide\.md#L\d+-L\d+ \d{4}-\d\d-\d\d note\] /);
      expect(asked.notes).toMatchObject([{ in: true, why: "fits the prompt" }]);
      const again = await turn("And which valve of the boiler comes after the first one?", "I do not know.");
      expect(again.blocks).toEqual(asked.blocks);
      expect(again.notes).toMatchObject([{ in: false, why: "shown a few turns ago" }]);

      write("docs/guide.md", `# Guide\n\n${filler}\n\n## Boiler\n\nTurn the blue valve of the boiler first.\n`);
      await search.sync();
      const changed = await turn("Are you sure about that first valve of the boiler?", "It is blue now.");
      expect(changed.blocks).toEqual([...asked.blocks, expect.stringContaining("Turn the blue valve")]);
      const stranger = await varve.sessions.resolve({ key: "agent:somebody-else:test:direct:valve" });
      const view = await varve.context.assemble(stranger, {
        budgetTokens: 8_000,
        prompt: "Which valve of the boiler do I have to turn first?",
      });
      expect(view.messages).toEqual([]);
    });

    test("follows what is written, renamed and deleted, and embeds nothing twice", async () => {
      await found("oat milk");
      const calls = embedder.texts;
      expect(await search.sync()).toMatchObject({ status: "done", files: 3, added: 0, changed: 0, removed: 0 });
      renameSync(join(folder, "docs/guide.md"), join(folder, "docs/manual.md"));
      expect(await search.sync()).toMatchObject({ added: 0, renamed: 1, removed: 0 });
      expect((await found("red valve boiler"))[0]).toContain("docs/manual.md#");
      write("docs/copy.md", "# Likes\n\nAnn likes oat milk.\n");
      expect(await search.sync()).toMatchObject({ added: 1 });
      expect(await found("oat milk")).toEqual(expect.arrayContaining(["MEMORY.md#L1-L3", "docs/copy.md#L1-L3"]));
      expect(embedder.texts).toBe(calls);

      write("docs/manual.md", `# Guide\n\n${filler}\n\n## Boiler\n\nTurn the blue valve of the boiler first.\n`);
      expect(await search.sync()).toMatchObject({ changed: 1 });
      expect((await search.find("blue valve", { kinds: ["chunk"] })).results[0]?.snippet).toContain("blue valve");
      // Only the chunk with the changed line.
      expect(embedder.texts).toBe(calls + 1);

      rmSync(join(folder, "docs/manual.md"));
      expect(await search.sync()).toMatchObject({ removed: 1 });
      expect((await found("blue valve boiler")).join()).not.toContain("manual");
      const vectors = await get().varve.search.find("valve", { kinds: ["chunk"], retrievers: ["vector"] });
      expect(vectors.results.map((result) => result.citation).join()).not.toContain("manual");
    });

    test("is read before a search by an engine that was just opened", async () => {
      write("docs/fresh.md", "The penguin sleeps.\n");
      const another = await get().another();
      const answer = await another.search.find("penguin", { kinds: ["chunk"] });
      expect(answer.results[0]?.citation).toBe("docs/fresh.md#L1-L1");
    });

    test("keeps what it knows of a folder that cannot be read, and says so", async () => {
      renameSync(join(folder, "docs"), join(folder, "away"));
      const result = await search.sync();
      expect(result).toMatchObject({ removed: 0, notes: [expect.stringContaining("docs")] });
      expect((await found("red valve boiler"))[0]).toContain("docs/guide.md");
      renameSync(join(folder, "away"), join(folder, "docs"));
    });

    test("is read by itself while somebody follows it", async () => {
      const follower = await get().another({ config: { search: { ...config.search, watchDebounceMs: 50 } } });
      // One that knows of no folder reads none: what it finds, the other has read.
      const reader = await get().another({ config: {} });
      const errors: unknown[] = [];
      follower.search.follow((error) => errors.push(error));
      let round = 0;
      await vi.waitFor(
        async () => {
          // Whatever is written before the watcher is ready is read when it is.
          round += 1;
          write("workspace/memory/watched.md", `The heron came ${round} times.\n`);
          const answer = await reader.search.find("heron", { kinds: ["chunk"], retrievers: ["lexical"] });
          expect(answer.results[0]?.citation).toBe("memory/watched.md#L1-L1");
        },
        { timeout: 600_000, interval: 300 },
      );
      rmSync(join(folder, "workspace/memory/watched.md"));
      await vi.waitFor(
        async () =>
          expect((await reader.search.find("heron", { kinds: ["chunk"], retrievers: ["lexical"] })).results).toEqual(
            [],
          ),
        { timeout: 600_000, interval: 300 },
      );
      expect(errors).toEqual([]);
      await follower.close();
    });

    test("stops when it is told to and goes on afterwards", async () => {
      write("docs/late.md", "A late walrus.\n");
      expect((await search.sync({ msMax: 0 })).status).toBe("stopped");
      expect(await search.sync()).toMatchObject({ status: "done", added: 1 });
    });
  },
  { models: { embedder }, config },
);
