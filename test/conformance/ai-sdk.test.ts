/** The memory in programs that use the AI SDK: the real package, versions 6 and 7, with scripted models. */
import { generateText, isStepCount, streamText, tool, wrapLanguageModel } from "ai";
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";
import * as ai6 from "ai-6";
import { MockLanguageModelV3, simulateReadableStream as simulateStream6 } from "ai-6/test";
import { expect, test } from "vitest";
import { z } from "zod";
import type { JsonValue } from "../../src/domain/index.ts";
import { estimateTokens, type Session, type Varve } from "../../src/index.ts";
import { varveMiddleware, varvePrepareStep, varveTools } from "../../src/plugins/ai-sdk/index.ts";
import { onEveryEngine } from "../support/engines.ts";

type Call = Parameters<MockLanguageModelV4["doGenerate"]>[0];
type Result = Awaited<ReturnType<MockLanguageModelV4["doGenerate"]>>;
type Content = Result["content"];

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
};
const windowTokens = 16_000;
const print = (value: unknown) => JSON.stringify(value);

/** A model with a small window that refuses longer prompts, as providers do. */
function createModel(answer: (call: Call, number: number) => Content) {
  const prompts: Call["prompt"][] = [];
  const model = new MockLanguageModelV4({
    doGenerate: async (call) => {
      const tokens = estimateTokens(print([call.prompt, call.tools ?? []]));
      if (tokens > windowTokens) {
        throw new Error(`prompt is too long: ${tokens} tokens > ${windowTokens} maximum`);
      }
      prompts.push(call.prompt);
      const content = answer(call, prompts.length);
      const unified = content.some(({ type }) => type === "tool-call") ? "tool-calls" : "stop";
      return { content, finishReason: { unified, raw: unified }, usage, warnings: [] };
    },
  });
  return { model, prompts };
}

const say = (text: string): Content => [{ type: "text", text }];
const readTool = tool({
  description: "Reads a file.",
  inputSchema: z.object({ path: z.string() }),
  execute: async ({ path }) => `The file ${path} says: ${`a line about ${path} with a few words. `.repeat(60)}`,
});

/** Reads a file in every step, then ends. */
const readFiles =
  (steps: number) =>
  (_: Call, number: number): Content =>
    number > steps
      ? say("All files are read.")
      : [
          { type: "text", text: `Step ${number}.` },
          {
            type: "tool-call",
            toolCallId: `call-${number}`,
            toolName: "read",
            input: print({ path: `file-${number}.ts` }),
          },
        ];

async function readMessages(varve: Varve, session: Session) {
  const { entries } = await varve.transcripts.read(session, { limit: 5_000 });
  return entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
}

onEveryEngine("the AI SDK", (get) => {
  let count = 0;
  const newSession = async () => {
    count += 1;
    return get().varve.sessions.resolve({ key: `agent:main:app:group:room-${count}` });
  };
  const fail = (error: unknown) => {
    throw error;
  };

  test("an agent of 200 steps keeps its request in a window of 16,000 tokens, and every message is stored once", async () => {
    const { varve } = get();
    const session = await newSession();
    const { model: inner, prompts } = createModel(readFiles(200));
    const model = wrapLanguageModel({ model: inner, middleware: varveMiddleware({ varve, session, windowTokens }) });
    const { text, steps } = await generateText({
      model,
      tools: { read: readTool },
      prompt: "Read 200 files. The code word is PELICAN-77.",
      stopWhen: isStepCount(250),
      maxRetries: 0,
    });
    expect([text, steps.length]).toEqual(["All files are read.", 201]);
    expect(prompts.filter((prompt) => print(prompt).includes("PELICAN-77"))).toHaveLength(201);
    // The last prompt has summaries of everything before it.
    expect(print(prompts.at(-1))).toContain("<summary id=");
    const stored = await readMessages(varve, session);
    expect(stored).toHaveLength(402);
    expect(new Set(stored.map(({ id }) => id)).size).toBe(402);
  });

  test("the same through prepareStep, with the tools of the memory", async () => {
    const { varve } = get();
    const session = await newSession();
    const { model, prompts } = createModel((call, number) =>
      number === 61
        ? [{ type: "tool-call", toolCallId: "grep", toolName: "lcm_grep", input: print({ pattern: "PELICAN-\\d+" }) }]
        : readFiles(61)(call, number),
    );
    const { text } = await generateText({
      model,
      tools: { read: readTool, ...(await varveTools({ varve, session, only: ["lcm_grep"] })) },
      prompt: "Read 60 files. The code word is PELICAN-77.",
      stopWhen: isStepCount(100),
      prepareStep: varvePrepareStep({ varve, session, windowTokens, onError: fail }),
      maxRetries: 0,
    });
    expect(text).toBe("All files are read.");
    const found = prompts.at(-1)?.at(-1);
    expect(print(found)).toMatch(/PELICAN-77.*msg#\d+|msg#\d+.*PELICAN-77/s);
    // The last reply is stored with the next call.
    expect(await readMessages(varve, session)).toHaveLength(123);
  });

  test("a history that is sent again after a restart is stored once, and an edited one opens a branch", async () => {
    const { varve, another } = get();
    const session = await newSession();
    const talk = async (engine: Varve, messages: { role: "user" | "assistant"; content: string }[], reply: string) => {
      const { model: inner, prompts } = createModel(() => say(reply));
      const model = wrapLanguageModel({
        model: inner,
        middleware: varveMiddleware({ varve: engine, session, onError: fail }),
      });
      await generateText({ model, messages, maxRetries: 0 });
      return prompts;
    };
    const first = { role: "user", content: "My bike is red." } as const;
    const reply = { role: "assistant", content: "Noted." } as const;
    await talk(varve, [first], "Noted.");
    const other = await another();
    await talk(other, [first, reply, { role: "user", content: "Where is it?" }], "In the shed.");
    expect((await readMessages(varve, session)).map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "user",
      "assistant",
    ]);
    const [prompt] = await talk(varve, [first, reply, { role: "user", content: "What colour is it?" }], "Red.");
    expect(print(prompt)).not.toContain("Where is it?");
    const active = (await readMessages(varve, session)).map(({ content }) => print(content));
    expect(active.some((content) => content.includes("What colour"))).toBe(true);
    expect(active.some((content) => content.includes("Where is it?"))).toBe(false);
    const found = await varve.context.grep({ pattern: "Where is it\\?", allConversations: true });
    expect(print(found)).toContain("Where is it?");
  });

  test("a streamed reply is stored as it was said, and its signature is sent back unchanged", async () => {
    const { varve } = get();
    const session = await newSession();
    const prompts: Call["prompt"][] = [];
    const signature = { anthropic: { signature: "c2lnbmVk" } };
    const inner = new MockLanguageModelV4({
      doStream: async (call) => {
        prompts.push(call.prompt);
        return {
          stream: simulateReadableStream({
            chunks: [
              { type: "stream-start", warnings: [] },
              { type: "reasoning-start", id: "r" },
              { type: "reasoning-delta", id: "r", delta: "They ask for a number." },
              { type: "reasoning-end", id: "r", providerMetadata: signature },
              { type: "text-start", id: "t" },
              { type: "text-delta", id: "t", delta: "It is " },
              { type: "text-delta", id: "t", delta: "42." },
              { type: "text-end", id: "t" },
              { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage },
            ],
          }),
        };
      },
    });
    const model = wrapLanguageModel({ model: inner, middleware: varveMiddleware({ varve, session, onError: fail }) });
    const first = streamText({ model, prompt: "Which number?" });
    expect(await first.text).toBe("It is 42.");
    const [, stored] = await readMessages(varve, session);
    expect(stored).toMatchObject({
      role: "assistant",
      content: [
        { type: "reasoning", text: "They ask for a number.", raw: { block: { providerOptions: signature } } },
        { type: "text", text: "It is 42." },
      ],
    });
    const messages = [{ role: "user" as const, content: "Which number?" }, ...(await first.responseMessages)];
    await streamText({ model, messages: [...messages, { role: "user", content: "Sure?" }] }).text;
    expect(await readMessages(varve, session)).toHaveLength(4);
    expect(print(prompts.at(-1))).toContain(print(signature).slice(1, -1));
  });

  test("a session's own history is shown to callers that send only what is new", async () => {
    const { varve } = get();
    const session = await newSession();
    const { model: inner, prompts } = createModel((_, number) => say(`Reply ${number}.`));
    const middleware = varveMiddleware({ varve, session, messages: "new", onError: fail });
    const model = wrapLanguageModel({ model: inner, middleware });
    for (const prompt of ["I live in Lisbon.", "continue", "continue"])
      await generateText({ model, prompt, maxRetries: 0 });
    expect(print(prompts.at(-1))).toMatch(/Lisbon.*Reply 1.*continue.*Reply 2.*continue/s);
    expect(await readMessages(varve, session)).toHaveLength(6);
  });

  test("a provider that refuses a prompt gets a shorter one", async () => {
    const { varve } = get();
    const session = await newSession();
    const { model: inner, prompts } = createModel(() => say("Good."));
    // The caller says that the window is larger than it is.
    const model = wrapLanguageModel({
      model: inner,
      middleware: varveMiddleware({ varve, session, windowTokens: 40_000 }),
    });
    const messages = Array.from({ length: 120 }, (_, index) => ({
      role: index % 2 ? ("assistant" as const) : ("user" as const),
      content: `Message ${index}: ${"some words of a long conversation. ".repeat(30)}`,
    }));
    const { text } = await generateText({
      model,
      messages: [...messages, { role: "user", content: "Go on." }],
      maxRetries: 0,
    });
    expect(text).toBe("Good.");
    expect(prompts).toHaveLength(1);
  });

  test("the call goes on with the caller's own messages when the memory fails", async () => {
    const { another } = get();
    const broken = await another();
    const session = await broken.sessions.resolve({ key: "agent:main:app:group:broken" });
    await broken.close();
    const { model: inner, prompts } = createModel(() => say("Still here."));
    const errors: unknown[] = [];
    const middleware = varveMiddleware({ varve: broken, session, onError: (error) => errors.push(error) });
    const { text } = await generateText({
      model: wrapLanguageModel({ model: inner, middleware }),
      prompt: "Hello?",
      maxRetries: 0,
    });
    expect(text).toBe("Still here.");
    expect(prompts).toEqual([[{ role: "user", content: [{ type: "text", text: "Hello?" }] }]]);
    expect(errors).toHaveLength(1);
  });

  test("version 6 of the AI SDK, generated and streamed", async () => {
    const { varve } = get();
    const session = await newSession();
    const usage6 = usage as JsonValue as never;
    const inner = new MockLanguageModelV3({
      doGenerate: async () => ({
        content: [{ type: "text", text: "Generated." }],
        finishReason: { unified: "stop", raw: "stop" } as never,
        usage: usage6,
        warnings: [],
      }),
      doStream: async () => ({
        stream: simulateStream6({
          chunks: [
            { type: "text-start", id: "1" },
            { type: "text-delta", id: "1", delta: "Streamed." },
            { type: "text-end", id: "1" },
            { type: "finish", finishReason: { unified: "stop", raw: "stop" } as never, usage: usage6 },
          ],
        }),
      }),
    });
    const model = ai6.wrapLanguageModel({
      model: inner,
      middleware: varveMiddleware({ varve, session, onError: fail }),
    });
    const generated = await ai6.generateText({ model, prompt: "One." });
    const messages: ai6.ModelMessage[] = [{ role: "user", content: "One." }, ...generated.response.messages];
    const streamed = ai6.streamText({ model, messages: [...messages, { role: "user", content: "Two." }] });
    expect([generated.text, await streamed.text]).toEqual(["Generated.", "Streamed."]);
    const stored = (await readMessages(varve, session)).map(({ role, content }) => `${role} ${print(content)}`);
    expect(stored.map((line) => /One|Generated|Two|Streamed/.exec(line)?.[0])).toEqual([
      "One",
      "Generated",
      "Two",
      "Streamed",
    ]);
  });
});
