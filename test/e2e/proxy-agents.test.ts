/** Agents: one request and hundreds of calls behind it, and results that are larger than all the rest. */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterEach, describe, expect, it } from "vitest";
import type { Json } from "../support/model-server/dialect.ts";
import { failuresIn, introduceKey, type ProxyStage, setProxyStage, words } from "./proxy-stage.ts";

let stage: ProxyStage;
afterEach(() => stage.end());

const steps = 120;

function refusals(): unknown[] {
  return stage.server.seen
    .filter(({ status }) => status !== 200)
    .map(({ status, body }) => [status, Object.keys(body)]);
}

function lastSent(list: "messages" | "input"): Json[] {
  return (stage.server.seen.at(-1)?.body[list] ?? []) as Json[];
}

describe("one turn that is longer than the window", () => {
  it("goes on with its request in view, by the Messages API", async () => {
    const say = (_: Json, n: number) => ({
      thinking: `step ${n}`,
      calls: [{ id: `toolu_${n}`, name: "shell", input: { command: `run ${n}` } }],
    });
    stage = await setProxyStage({ server: { limitTokens: 8_000, say }, proxy: { windowTokens: 8_000 } });
    const client = new Anthropic({
      apiKey: "sk-client",
      baseURL: stage.anthropic,
      maxRetries: 0,
      defaultHeaders: { "x-claude-code-session-id": "6c2b6a52-1f6e-4f2e-9d53-000000000001" },
    });
    const messages: Anthropic.MessageParam[] = [{ role: "user", content: "Port the parser to the new grammar." }];
    for (let step = 0; step < steps; step += 1) {
      const reply = await client.messages
        .stream({
          model: "claude-local",
          max_tokens: 200,
          messages,
          tools: [{ name: "shell", input_schema: { type: "object" } }],
        })
        .finalMessage();
      const call = reply.content.find((block) => block.type === "tool_use");
      if (!call) throw new Error("nothing was called");
      messages.push(
        { role: "assistant", content: reply.content },
        { role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: words(100, step) }] },
      );
    }
    expect(refusals()).toEqual([]);
    expect(stage.server.seen).toHaveLength(steps);
    expect(JSON.stringify(lastSent("messages")[1])).toContain("Port the parser to the new grammar.");
    expect(JSON.stringify(lastSent("messages")[0])).toContain("<summary id=");
    expect(failuresIn(stage.log)).toEqual([]);
  });

  it("goes on with its request in view, by chat completions and by responses", async () => {
    const say = (_: Json, n: number) => ({
      calls: [{ id: `call_${n}`, name: "shell", input: { command: `run ${n}` } }],
    });
    stage = await setProxyStage({ server: { limitTokens: 8_000, say }, proxy: { windowTokens: 8_000 } });
    const client = new OpenAI({ apiKey: "sk-client", baseURL: stage.openai, maxRetries: 0 });
    const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [{ role: "user", content: "Port the parser." }];
    const input: OpenAI.Responses.ResponseInputItem[] = [{ role: "user", content: "Port the parser." }];
    for (let step = 0; step < steps; step += 1) {
      const completion = await client.chat.completions.create({
        model: "gpt-local",
        messages,
        tools: [{ type: "function", function: { name: "shell", parameters: {} } }],
      });
      const reply = completion.choices[0]?.message;
      const call = reply?.tool_calls?.[0];
      if (!reply || !call) throw new Error("nothing was called");
      messages.push(reply, { role: "tool", tool_call_id: call.id, content: words(100, step) });
      const response = await client.responses.create({
        model: "gpt-local",
        input,
        tools: [{ type: "function", name: "shell", parameters: {}, strict: false }],
      });
      input.push(...(response.output as OpenAI.Responses.ResponseInputItem[]));
      const [item] = response.output;
      if (item?.type !== "function_call") throw new Error("nothing was called");
      input.push({ type: "function_call_output", call_id: item.call_id, output: words(100, step) });
    }
    expect(refusals()).toEqual([]);
    expect(lastSent("input").slice(0, 2)).toMatchObject([
      { role: "user", content: expect.stringContaining("<summary id=") },
      { role: "user", content: "Port the parser." },
    ]);
    expect(failuresIn(stage.log)).toEqual([]);
  });
});

describe("a result that is larger than the window", () => {
  it("is shown with its ends, and kept whole", async () => {
    stage = await setProxyStage({ server: { limitTokens: 8_000 }, proxy: { windowTokens: 8_000 } });
    const client = new Anthropic({
      apiKey: "sk-client",
      baseURL: stage.anthropic,
      maxRetries: 0,
      defaultHeaders: { "x-varve-session": "large" },
    });
    await introduceKey(stage, "sk-client");
    const large = `${words(6_000, 1)} the needle ${words(6_000, 2)}`;
    const messages: Anthropic.MessageParam[] = [
      { role: "user", content: "Read the log." },
      { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "read", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: large }] },
    ];
    const ask = () => client.messages.create({ model: "claude-local", max_tokens: 200, messages });
    const reply = await ask();
    expect(refusals()).toEqual([]);
    expect(JSON.stringify(lastSent("messages"))).toContain("characters are left out here");
    messages.push({ role: "assistant", content: reply.content }, { role: "user", content: "What was in it?" });
    await ask();
    expect(refusals()).toEqual([]);
    const [session] = await stage.sessions();
    const found = await stage.varve.context.grep({ session, pattern: "the needle", scope: "files" });
    const kept = await stage.varve.context.grep({ session, pattern: "the needle" });
    expect(found.matches.length + kept.matches.length).toBeGreaterThan(0);
  });
});
