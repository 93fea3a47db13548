/** The processor in agents of the real Mastra, with a scripted model of a small window. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { estimateTokens, openVarve, type Session, type Varve } from "../../src/index.ts";
import { varveProcessor, varveTools } from "../../src/plugins/mastra/index.ts";

/** Absent only when `VARVE_TEST_SKIP=mastra` asked for it, or the test is run without `npm test`. */
const folder = process.env.VARVE_TEST_MASTRA;
const windowTokens = 8_000;

interface Agent {
  generate(text: string, options?: object): Promise<{ text: string; error?: Error }>;
  stream(text: string): Promise<{ textStream: AsyncIterable<string>; text: Promise<string> }>;
}
type Part = { type: string; text?: string; toolCallId?: string; toolName?: string; input?: string };
type Call = { prompt: { role: string; content: unknown }[] };

/** A model that knows only what it is sent, and refuses what is longer than its window. */
function createModel(limit = windowTokens) {
  const calls: Call[] = [];
  const refused: number[] = [];
  const answer = (call: Call): Part[] => {
    const tokens = estimateTokens(JSON.stringify(call.prompt));
    if (tokens > limit) {
      refused.push(tokens);
      throw Object.assign(new Error("This model's maximum context length was exceeded: prompt is too long"), {
        statusCode: 400,
      });
    }
    calls.push(structuredClone(call));
    // What was recalled follows the request.
    const text = JSON.stringify(call.prompt.slice(-2));
    const isMeasured = call.prompt.at(-1)?.role === "tool";
    if (text.includes("Measure") && !isMeasured)
      return [{ type: "tool-call", toolCallId: `c${calls.length}`, toolName: "measure", input: '{"tank":4}' }];
    if (text.includes("code word?"))
      return [{ type: "text", text: `It is ${/PELICAN-\d+/.exec(JSON.stringify(call.prompt))?.[0]}.` }];
    return [{ type: "text", text: `Reply ${calls.length}.` }];
  };
  const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
  const finishReason = (content: Part[]) => (content[0]?.type === "tool-call" ? "tool-calls" : "stop");
  const model = {
    ...{ specificationVersion: "v2", provider: "scripted.chat", modelId: "small", supportedUrls: {} },
    async doGenerate(call: Call) {
      const content = answer(call);
      return { content, finishReason: finishReason(content), usage, warnings: [] };
    },
    async doStream(call: Call) {
      const content = answer(call);
      const parts = content.flatMap((part) =>
        part.type === "text"
          ? [
              { type: "text-start", id: "1" },
              { type: "text-delta", id: "1", delta: part.text },
              { type: "text-end", id: "1" },
            ]
          : [part],
      );
      const all = [
        { type: "stream-start", warnings: [] },
        ...parts,
        { type: "finish", finishReason: finishReason(content), usage },
      ];
      return { stream: ReadableStream.from(all) };
    },
  };
  return { model, calls, refused };
}

describe.skipIf(folder === undefined)("the real Mastra", () => {
  const home = mkdtempSync(join(tmpdir(), "varve-mastra-"));
  let varve: Varve;
  let create: (options: object) => Agent;
  let createTool: (options: object) => object;
  const load = (path: string) => import(pathToFileURL(join(folder ?? "", "dist", path, "index.js")).href);
  const readMessages = async (session: Session) =>
    (await varve.transcripts.read(session, { limit: 1_000 })).entries.flatMap((entry) =>
      entry.type === "message" ? [entry.message] : [],
    );

  beforeAll(async () => {
    varve = await openVarve({ home, background: false });
    const { Agent } = await load("agent");
    createTool = (await load("tools")).createTool;
    create = (options) => new Agent({ id: "helper", name: "Helper", instructions: "Be brief.", ...options });
  });
  afterAll(async () => {
    await varve?.close();
    rmSync(home, { recursive: true, force: true });
  });

  test("an agent without another memory remembers a long conversation in a small window", async () => {
    const session = await varve.sessions.resolve({ key: "agent:main:mastra:direct:ann" });
    const { model, calls, refused } = createModel();
    const memory = varveProcessor({ varve, session, windowTokens });
    const measure = createTool({
      ...{ id: "measure", description: "Measures a tank.", inputSchema: z.object({ tank: z.number() }) },
      execute: async () => `The tank holds ${"many ".repeat(300)}litres.`,
    });
    const tools = { measure, ...(await varveTools({ varve, session, only: ["lcm_grep"] })) };
    const open = () => create({ model, tools, inputProcessors: [memory], errorProcessors: [memory] });
    expect((await open().generate("The code word is PELICAN-77. Remember it.")).text).toBe("Reply 1.");
    for (let turn = 2; turn <= 12; turn += 1) {
      const text =
        turn % 3 === 0 ? `Measure tank ${turn}.` : `Message ${turn}: ${"please consider the long plan. ".repeat(120)}`;
      // Each turn has an agent of its own, as after a restart; some are streamed.
      if (turn % 2 === 0) expect((await open().generate(text)).text).toContain("Reply");
      else {
        const streamed = await open().stream(text);
        let shown = "";
        for await (const part of streamed.textStream) shown += part;
        expect(shown).toContain("Reply");
      }
    }
    expect((await open().generate("What is the code word?")).text).toBe("It is PELICAN-77.");
    expect(refused).toEqual([]);
    // 13 turns, and a second call after each of the four measurements.
    expect(calls).toHaveLength(17);
    expect(calls.every(({ prompt }) => JSON.stringify(prompt[0]).includes("Be brief."))).toBe(true);

    const stored = await readMessages(session);
    expect(stored.map(({ role }) => role).filter((role) => role === "user")).toHaveLength(13);
    expect(stored).toHaveLength(13 * 2 + 4 * 2);
    const said = stored.map((message) => JSON.stringify(message.content));
    for (let turn = 2; turn <= 12; turn += 1) {
      const start = turn % 3 === 0 ? `Measure tank ${turn}.` : `Message ${turn}: please`;
      expect(said.filter((one) => one.includes(start))).toHaveLength(1);
    }
  });

  test("a prompt that the model refuses is sent again, shorter", async () => {
    const session = await varve.sessions.resolve({ key: "agent:main:mastra:direct:ben" });
    const { model, refused } = createModel(6_000);
    // The program believes in a larger window than the model has.
    const memory = varveProcessor({ varve, session, windowTokens: 14_000 });
    const agent = create({ model, inputProcessors: [memory], errorProcessors: [memory], maxProcessorRetries: 5 });
    for (let turn = 1; turn <= 20; turn += 1) {
      const { text, error } = await agent.generate(`Note ${turn}: ${"the pump makes a noise at night. ".repeat(60)}`);
      expect(error).toBeUndefined();
      expect(text).toContain("Reply");
    }
    expect(refused.length).toBeGreaterThan(0);
  });

  test("one agent serves two people, and a run of nobody goes on without a memory and shows nothing of anybody", async () => {
    const { RequestContext } = await load("request-context");
    const { model, calls } = createModel();
    const errors: unknown[] = [];
    type Context = { get(name: string): unknown };
    const open = (context: Context | undefined) =>
      varve.sessions.resolve({ channel: "app", peer: context?.get("user") as string });
    const memory = varveProcessor({ varve, session: open, onError: (error) => errors.push(error) });
    const tools = async ({ requestContext }: { requestContext: Context }) =>
      requestContext.get("user") === undefined ? {} : varveTools({ varve, session: await open(requestContext) });
    const agent = create({ model, tools, inputProcessors: [memory] });
    const ask = (text: string, user?: string) =>
      agent.generate(text, { requestContext: new RequestContext(user === undefined ? [] : [["user", user]]) });
    await ask("Remember that my boat is called Plover.", "cleo");
    const session = await varve.sessions.get("app:cleo");
    expect((await readMessages(session)).map(({ role }) => role)).toEqual(["user", "assistant"]);
    await varve.memory.extract(session);
    await ask("What is my boat called?", "dan");
    expect(JSON.stringify(calls.at(-1))).not.toContain("Plover");
    await ask("What is my boat called?", "cleo");
    expect(JSON.stringify(calls.at(-1))).toContain("Plover");
    expect(errors).toEqual([]);
    expect((await ask("What is my boat called?")).text).toContain("Reply");
    expect(JSON.stringify(calls.at(-1))).not.toContain("Plover");
    expect(errors).toMatchObject([{ code: "BAD_REQUEST" }]);
  });
});
