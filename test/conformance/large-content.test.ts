import { createHash } from "node:crypto";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Message } from "../../src/domain/index.ts";
import { openVarve, restoreBackup, type Session } from "../../src/index.ts";
import { onEveryEngine } from "../support/engines.ts";

const csv = `name,city,amount\n${Array.from({ length: 400 }, (_, index) => `person ${index},Berlin,${index * 7}`).join("\n")}\n`;
const log = Array.from(
  { length: 300 },
  (_, index) => `2026-01-02T03:04:${index % 60} ERROR worker ${index} failed`,
).join("\n");

onEveryEngine(
  "large content",
  (get) => {
    let count = 0;
    const fresh = async (): Promise<Session> => {
      count += 1;
      return get().varve.sessions.resolve({ key: `agent:main:large:direct:s${count}` });
    };
    const stored = async (session: Session): Promise<Message[]> => {
      const page = await get().varve.transcripts.read(session, { limit: 1000 });
      return page.entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
    };

    test("a file in a user's text leaves the context, and the words around it stay", async () => {
      const { varve } = get();
      const session = await fresh();
      const content = `Look at this:\n<file name="people.csv">${csv}</file>\nWho is in Berlin?`;
      const time = 1_700_000_000_000;
      await varve.context.ingest(session, [{ id: "u", role: "user", content, time }]);
      expect(await stored(session)).toEqual([{ id: "u", role: "user", content, time }]);
      const view = await varve.context.assemble(session, { budgetTokens: 4000 });
      const text = view.messages[0]?.content as string;
      const id = `file_${createHash("sha256").update(csv).digest("hex").slice(0, 16)}`;
      expect(text).toMatch(/^Look at this:\n<file name="people.csv">\[Large content/);
      expect(text).toContain(id);
      expect(text).toContain("people.csv");
      expect(text).toMatch(/Who is in Berlin\?$/);
      expect(text).not.toContain("person 250");
      expect(view.estimatedTokens).toBeLessThan(600);
      const described = await varve.context.describe(id, { startLine: 252, endLine: 253 });
      if (described.kind !== "file") throw new Error("a file is described as one");
      expect(described.file).toMatchObject({ kind: "csv", name: "people.csv", lines: 401, bytes: csv.length });
      expect(described.lines?.text).toBe("person 250,Berlin,1750\nperson 251,Berlin,1757");
      await expect(varve.context.describe(id, { startLine: 900 })).rejects.toMatchObject({ code: "BAD_REQUEST" });
    });

    test("a tool's large result, twice, is stored once and found by its words", async () => {
      const { varve } = get();
      const session = await fresh();
      const result = (call: string): Message[] => [
        { id: `c${call}`, role: "assistant", content: [{ type: "tool_call", callId: call, name: "run", input: {} }] },
        { id: `r${call}`, role: "tool", content: [{ type: "tool_result", callId: call, output: log }] },
      ];
      const before = (await varve.status()).files;
      await varve.context.ingest(session, result("1"));
      await varve.context.ingest(session, result("2"));
      expect((await varve.status()).files).toBe(before + 1);
      const messages = await stored(session);
      expect(messages.filter((message) => JSON.stringify(message).includes("worker 299 failed"))).toHaveLength(2);
      const words = await varve.context.grep({ session, pattern: "worker 299", mode: "full_text", scope: "messages" });
      expect(words.matches).toHaveLength(2);
      const asked = await varve.search.find("ERROR worker failed", { session, kinds: ["message"] });
      expect(asked.results[0]?.snippet).toContain("failed");
      const inFile = await varve.context.grep({ session, pattern: "worker 2[0-9]9 failed", scope: "files" });
      expect(inFile.matches.map((match) => match.kind)).toEqual(Array.from({ length: 10 }, () => "file"));
      expect(inFile.matches[0]?.snippet).toMatch(/^line 210: /);
      const asMessage = await varve.context.grep({ session, pattern: "worker 299 failed", scope: "messages" });
      expect(asMessage.matches).toHaveLength(2);
    });

    test("whatever is in it, it comes back as it was, also when it was given in a provider's own block", async () => {
      const { varve } = get();
      const piece = fc.string({ unit: "binary", minLength: 0, maxLength: 40 });
      const big = fc.tuple(piece, piece).map(([a, b]) => `${a}\u0000\ud800${"lorem ipsum ".repeat(200)}${b}`);
      await fc.assert(
        fc.asyncProperty(fc.array(big, { minLength: 1, maxLength: 4 }), async (texts) => {
          const session = await fresh();
          const [first = ""] = texts;
          const messages: Message[] = [
            {
              id: "a",
              role: "user",
              time: 1,
              content: texts.map((text) => ({
                type: "text",
                text,
                raw: { format: "anthropic", block: { type: "text", text, cache_control: { type: "ephemeral" } } },
              })),
              meta: { moved: [first] },
            },
            { id: "b", role: "assistant", time: 2, content: `<file name="x">${first}</file><file>${first}` },
            {
              id: "c",
              role: "tool",
              time: 3,
              content: [{ type: "tool_result", callId: "1", output: [{ type: "text", text: first }] }],
            },
          ];
          await varve.context.ingest(session, messages);
          expect(await stored(session)).toEqual(messages);
          const view = await varve.context.assemble(session, { budgetTokens: 20_000 });
          expect(JSON.stringify(view.messages)).not.toContain("lorem ipsum ".repeat(60));
        }),
        { numRuns: 15 },
      );
    });

    test("summaries know the files under them, and an expansion opens those that fit", async () => {
      const { varve } = get();
      const session = await fresh();
      const messages: Message[] = Array.from({ length: 30 }, (_, index) => ({
        id: `m${index}`,
        role: index % 2 ? "assistant" : "user",
        content: index === 4 ? log : `Message ${index} about the deployment of the server in Berlin.`,
      }));
      await varve.context.ingest(session, messages);
      await varve.context.compact(session);
      const { summaries } = await varve.context.overview(session);
      expect(summaries.flatMap((summary) => summary.fileIds)).toHaveLength(1);
      const ids = summaries.map((summary) => summary.id);
      const options = { summaryIds: ids, includeMessages: true, maxDepth: 9 };
      const small = await varve.context.expand({ ...options, tokenCap: 3_000 });
      expect(small.cut).toContain("stand as references");
      const whole = await varve.context.expand({ ...options, tokenCap: 100_000 });
      expect(whole.cut).toBeUndefined();
      const opened = JSON.stringify(whole.nodes);
      for (const message of messages) expect(opened).toContain(JSON.stringify(message.content));
    });

    test("a model for large files adds its description in the background", async () => {
      const asked: string[] = [];
      const largeFile = async ({ user }: { user: string }) => {
        asked.push(user);
        return { text: "A table of people in Berlin.", model: "lab/m" };
      };
      const varve = await get().another({
        background: false,
        config: { context: { largeFileTokenThreshold: 300 } },
        models: { largeFile },
      });
      const session = await fresh();
      const content = csv.replaceAll("Berlin", "Oslo");
      await varve.context.commitTurn(session, "t", [{ id: "u", role: "user", content }]);
      const view = JSON.stringify((await varve.context.assemble(session, { budgetTokens: 4000 })).messages);
      await varve.jobs.drain();
      expect(asked).toHaveLength(1);
      const [hit] = (await varve.context.grep({ session, pattern: "person 3,Oslo", scope: "files" })).matches;
      expect(await varve.context.describe(hit?.citation ?? "")).toMatchObject({
        file: { kind: "csv", byModel: { text: "A table of people in Berlin.", model: "lab/m" } },
      });
      // What a model says later does not change what is in view: the prefix stays what it was.
      expect(JSON.stringify((await varve.context.assemble(session, { budgetTokens: 4000 })).messages)).toBe(view);
    });

    test("it survives a rebuilt index and a portable backup, and goes when its last session is deleted", async () => {
      const under = get();
      const { varve } = under;
      const session = await fresh();
      const secret = `${"some words and more of them ".repeat(100)}xylophone`;
      await varve.context.ingest(session, [{ id: "x", role: "user", content: secret, time: 5 }]);
      await varve.doctor({ rebuild: true });
      const find = (engine: typeof varve) =>
        engine.context.grep({ pattern: "xylophone", mode: "full_text", scope: "messages" });
      expect((await find(varve)).matches).toHaveLength(1);
      under.clock.advance(1_000);
      const { file } = await varve.backup(undefined, { portable: true });
      const home = join(under.home, "restored");
      await restoreBackup({ home }, file);
      const copy = await openVarve({ home, background: false });
      expect((await find(copy)).matches).toHaveLength(1);
      const again = await copy.sessions.get(session.key);
      expect((await copy.transcripts.read(again)).entries.at(-1)).toMatchObject({ message: { content: secret } });
      expect((await copy.doctor()).healthy).toBe(true);
      const files = (await copy.status()).files;
      await copy.sessions.delete(again);
      expect((await copy.status()).files).toBe(files - 1);
      await copy.close();
    });
  },
  { config: { context: { largeFileTokenThreshold: 300 } } },
);
