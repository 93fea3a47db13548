import OpenAI from "openai";
import { afterEach, describe, expect, it } from "vitest";
import type { Json, Said } from "../support/model-server/dialect.ts";
import { betweenCompactions, failuresIn, type ProxyStage, setProxyStage, words } from "./proxy-stage.ts";

let stage: ProxyStage;
afterEach(() => stage.end());

const model = "gpt-local";

function clientOf(headers: Record<string, string> = {}): OpenAI {
  return new OpenAI({ apiKey: "sk-client", baseURL: stage.openai, maxRetries: 0, defaultHeaders: headers });
}

function refusals(): unknown[] {
  return stage.server.seen.filter(({ status }) => status !== 200);
}

/** What the provider was sent last. */
function lastSent(list: "messages" | "input"): Json[] {
  return (stage.server.seen.at(-1)?.body[list] ?? []) as Json[];
}

async function storedCount(): Promise<number> {
  const [session] = await stage.sessions();
  if (!session) return 0;
  let count = 0;
  for await (const page of stage.varve.transcripts.walk(session)) {
    count += page.filter((entry) => entry.type === "message").length;
  }
  return count;
}

/** Looks the word up when it is asked for it, and says what it found. */
const lookingUp = (listOf: (body: Json) => Json[]): ((body: Json, n: number) => Said) => {
  return (body, n) => {
    const all = listOf(body);
    const last = JSON.stringify(all.at(-1));
    if (last.includes("What was the code word")) {
      expect(JSON.stringify(body.tools)).toContain("lcm_grep");
      return {
        text: "Let me look.",
        calls: [{ id: "call_own", name: "lcm_grep", input: { pattern: "code word is" } }],
      };
    }
    if (last.includes("call_own")) return { text: `It was ${/code word is (\w+)/.exec(last)?.[1]}.` };
    if (last.includes("Do both")) {
      return {
        calls: [
          { id: "call_ours", name: "lcm_grep", input: { pattern: "heliotrope" } },
          { id: "call_theirs", name: "weather", input: { city: "Oslo" } },
        ],
      };
    }
    return { text: `answer ${n}: ${words(20, n)}` };
  };
};

describe.each([true, false])("chat completions (stream: %s)", (stream) => {
  type Param = OpenAI.Chat.ChatCompletionMessageParam;
  const tools: OpenAI.Chat.ChatCompletionTool[] = [
    { type: "function", function: { name: "weather", parameters: { type: "object", properties: {} } } },
  ];
  const say = lookingUp((body) => body.messages as Json[]);

  async function talk(client: OpenAI, messages: Param[], message: Param): Promise<OpenAI.Chat.ChatCompletionMessage> {
    messages.push(message);
    const request = { model, max_completion_tokens: 500, messages, tools };
    const completion = stream
      ? await client.chat.completions
          .stream({ ...request, stream_options: { include_usage: true } })
          .finalChatCompletion()
      : await client.chat.completions.create(request);
    const reply = completion.choices[0]?.message;
    if (!reply) throw new Error("nothing was answered");
    expect(completion.usage?.total_tokens).toBeGreaterThan(0);
    messages.push({
      role: "assistant",
      content: reply.content,
      ...(reply.tool_calls ? { tool_calls: reply.tool_calls } : {}),
    });
    return reply;
  }

  it("are kept, replaced when they do not fit, and looked up inside", async () => {
    stage = await setProxyStage({ server: { limitTokens: 8_000, countsAnswer: true, say } });
    const client = clientOf({ "x-varve-session": "chat" });
    const messages: Param[] = [{ role: "developer", content: "Be brief." }];
    await talk(client, messages, { role: "user", content: "Remember: the code word is heliotrope." });
    for (let turn = 0; turn < 50; turn += 1) {
      await talk(client, messages, { role: "user", content: `Question ${turn}: ${words(100, turn)}` });
    }
    expect(refusals()).toHaveLength(1);
    const { before, after } = await betweenCompactions(
      () => stage.varve,
      async () => {
        const reply = await talk(client, messages, { role: "user", content: "What was the code word?" });
        expect(reply.content).toBe("Let me look.\n\nIt was heliotrope.");
        expect(reply.tool_calls ?? []).toEqual([]);
        const sent = lastSent("messages");
        await talk(client, messages, { role: "user", content: "Thank you." });
        return { before: sent, after: lastSent("messages") };
      },
    );
    expect(before[0]).toEqual({ role: "developer", content: "Be brief." });
    expect(before[1]).toMatchObject({ role: "developer", content: expect.stringContaining("lcm_grep") });
    expect(after.slice(0, before.length)).toEqual(before);
    const both = await talk(client, messages, { role: "user", content: "Do both" });
    expect(both.tool_calls?.map((call) => call.id)).toEqual(["call_theirs"]);
    await talk(client, messages, { role: "tool", tool_call_id: "call_theirs", content: "rain" });
    const last = lastSent("messages").slice(-3);
    expect(last).toMatchObject([
      { tool_calls: [{ id: "call_ours" }, { id: "call_theirs" }] },
      { role: "tool", tool_call_id: "call_ours", content: expect.stringContaining("heliotrope") },
      { role: "tool", tool_call_id: "call_theirs", content: "rain" },
    ]);
    expect(refusals()).toHaveLength(1);
    expect(await storedCount()).toBe(messages.length - 1);
    expect(failuresIn(stage.log)).toEqual([]);
  });

  it("pass through byte for byte when they fit", async () => {
    stage = await setProxyStage({ server: { limitTokens: 8_000 } });
    const body = `{"model" : "${model}","messages":[{"role":"user","content":"hi \\u00e9"}],"stream":${stream},"seed":7.0}`;
    for (const path of [`${stage.openai}/chat/completions`, `${stage.openai.replace("/v1", "")}/chat/completions`]) {
      const answer = await fetch(path, { method: "POST", headers: { authorization: "Bearer sk-client" }, body });
      expect(await answer.text()).toContain("answer");
      expect(stage.server.seen.at(-1)?.bytes.toString()).toBe(body);
      expect(stage.server.seen.at(-1)?.headers.authorization).toBe("Bearer sk-client");
    }
  });
});

describe.each([true, false])("responses (stream: %s)", (stream) => {
  type Item = OpenAI.Responses.ResponseInputItem;
  const tools: OpenAI.Responses.Tool[] = [
    { type: "function", name: "weather", parameters: { type: "object", properties: {} }, strict: false },
  ];
  const say = lookingUp((body) => body.input as Json[]);

  async function talk(client: OpenAI, input: Item[], item: Item): Promise<OpenAI.Responses.Response> {
    input.push(item);
    const request = { model, max_output_tokens: 500, instructions: "Be brief.", input, tools, store: false };
    const response = stream
      ? await client.responses.stream(request).finalResponse()
      : await client.responses.create(request);
    input.push(...(response.output as Item[]));
    return response;
  }

  it("are kept, replaced when they do not fit, and looked up inside", async () => {
    const thinking = (body: Json, n: number): Said => ({ thinking: `thought ${n}`, ...say(body, n) });
    stage = await setProxyStage({ server: { limitTokens: 8_000, say: thinking } });
    const client = clientOf({ "x-varve-session": "responses" });
    const input: Item[] = [];
    await talk(client, input, { role: "user", content: "Remember: the code word is heliotrope." });
    for (let turn = 0; turn < 50; turn += 1) {
      await talk(client, input, { role: "user", content: `Question ${turn}: ${words(100, turn)}` });
    }
    expect(refusals()).toHaveLength(1);
    const { before, after } = await betweenCompactions(
      () => stage.varve,
      async () => {
        const reply = await talk(client, input, { role: "user", content: "What was the code word?" });
        expect(reply.output_text).toBe("Let me look.It was heliotrope.");
        expect(reply.output.map(({ type }) => type)).toEqual(["reasoning", "message", "reasoning", "message"]);
        const sent = lastSent("input");
        await talk(client, input, { role: "user", content: "Thank you." });
        return { before: sent, after: lastSent("input") };
      },
    );
    expect(stage.server.seen.at(-1)?.body.instructions).toMatch(/^Be brief\.\n\n.*lcm_grep/s);
    expect(after.slice(0, before.length)).toEqual(before);
    const both = await talk(client, input, { role: "user", content: "Do both" });
    expect(both.output.flatMap((item) => (item.type === "function_call" ? [item.call_id] : []))).toEqual([
      "call_theirs",
    ]);
    await talk(client, input, { type: "function_call_output", call_id: "call_theirs", output: "rain" });
    const last = lastSent("input").slice(-4);
    expect(last).toMatchObject([
      { call_id: "call_ours", type: "function_call" },
      { call_id: "call_theirs", type: "function_call" },
      { call_id: "call_ours", output: expect.stringContaining("heliotrope") },
      { call_id: "call_theirs", output: "rain" },
    ]);
    expect(refusals()).toHaveLength(1);
    expect(await storedCount()).toBe(input.length);
    expect(failuresIn(stage.log)).toEqual([]);
  });

  it("that the provider keeps itself pass through", async () => {
    stage = await setProxyStage({ server: { limitTokens: 8_000 } });
    const client = clientOf();
    const first = await client.responses.create({ model, input: "hello" });
    await client.responses.create({ model, input: "and again", previous_response_id: first.id });
    expect(stage.server.seen.at(-1)?.body).toEqual({ model, input: "and again", previous_response_id: first.id });
  });
});

describe("responses that are refused inside of their stream", () => {
  it("are cured, and the client sees nothing of it", async () => {
    stage = await setProxyStage({ server: { limitTokens: 8_000, refusesInStream: true } });
    const client = clientOf({ "x-varve-session": "streamed" });
    const input: OpenAI.Responses.ResponseInputItem[] = [];
    for (let turn = 0; turn < 60; turn += 1) {
      input.push({ role: "user", content: `Question ${turn}: ${words(100, turn)}` });
      const response = await client.responses.stream({ model, max_output_tokens: 500, input }).finalResponse();
      expect(response.status).toBe("completed");
      input.push(...(response.output as OpenAI.Responses.ResponseInputItem[]));
    }
    expect(refusals()).not.toEqual([]);
    expect(failuresIn(stage.log)).toEqual([]);
  });
});

describe("whatever else there is", () => {
  it("is forwarded as it is", async () => {
    stage = await setProxyStage({ server: { limitTokens: 8_000 } });
    const models = await clientOf().models.list();
    expect(models.data).toEqual([{ id: "local" }]);
    expect(stage.server.seen.at(-1)?.path).toBe("/v1/models");
  });
});
