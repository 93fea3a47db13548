import Anthropic from "@anthropic-ai/sdk";
import { afterEach, describe, expect, it } from "vitest";
import type { Json, Said } from "../support/model-server/dialect.ts";
import { betweenCompactions, failuresIn, type ProxyStage, setProxyStage, words } from "./proxy-stage.ts";

let stage: ProxyStage;
afterEach(() => stage.end());

type Messages = Anthropic.MessageParam[];

function clientOf(headers: Record<string, string> = {}): Anthropic {
  return new Anthropic({ apiKey: "sk-client", baseURL: stage.anthropic, maxRetries: 0, defaultHeaders: headers });
}

const model = "claude-local";

async function storedTexts(): Promise<string[]> {
  const texts: string[] = [];
  for (const session of await stage.sessions()) {
    for await (const page of stage.varve.transcripts.walk(session)) {
      for (const entry of page) if (entry.type === "message") texts.push(JSON.stringify(entry.message.content));
    }
  }
  return texts;
}

describe("a request that fits", () => {
  it("goes to the provider byte for byte, with the client's own headers", async () => {
    stage = await setProxyStage({ server: { limitTokens: 50_000 } });
    const body = `{ "model":"${model}",  "max_tokens": 10, "messages":[{"role":"user","content":"h\\u00e9llo 1.0"}], "x": 1.50 }`;
    const answer = await fetch(`${stage.anthropic}/v1/messages?beta=true`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-api-key": "sk-client",
        "anthropic-beta": "a,b",
        "anthropic-version": "2023-06-01",
        "x-varve-session": "mine",
      },
      body,
    });
    const text = await answer.text();
    expect(answer.status).toBe(200);
    expect(answer.headers.get("request-id")).toBe("req_1");
    expect(JSON.parse(text)).toMatchObject({ id: "msg_1", content: [{ type: "text", text: "answer 1" }] });
    const [seen] = stage.server.seen;
    expect(seen?.bytes.toString()).toBe(body);
    expect(seen?.path).toBe("/v1/messages?beta=true");
    expect(seen?.headers).toMatchObject({
      "x-api-key": "sk-client",
      "anthropic-beta": "a,b",
      "anthropic-version": "2023-06-01",
    });
    expect(Object.keys(seen?.headers ?? {}).filter((name) => name.startsWith("x-varve"))).toEqual([]);
  });

  it("is stored once with its reply, however the session is named", async () => {
    stage = await setProxyStage({ server: { limitTokens: 50_000 } });
    const client = clientOf();
    const messages: Messages = [{ role: "user", content: "first question" }];
    for (let turn = 0; turn < 4; turn += 1) {
      const reply = await client.messages.create({ model, max_tokens: 100, messages });
      messages.push({ role: "assistant", content: reply.content }, { role: "user", content: `more ${turn}` });
    }
    const reply = await client.messages.stream({ model, max_tokens: 100, messages }).finalMessage();
    expect(reply.content).toEqual([{ type: "text", text: "answer 5" }]);
    expect(await stage.sessions()).toHaveLength(1);
    expect(await storedTexts()).toEqual([
      '"first question"',
      '[{"type":"text","text":"answer 1"}]',
      '"more 0"',
      '[{"type":"text","text":"answer 2"}]',
      '"more 1"',
      '[{"type":"text","text":"answer 3"}]',
      '"more 2"',
      '[{"type":"text","text":"answer 4"}]',
      '"more 3"',
      '[{"type":"text","text":"answer 5"}]',
    ]);
    expect(failuresIn(stage.log)).toEqual([]);
  });

  it("keeps an edited history as a branch of its own", async () => {
    stage = await setProxyStage({ server: { limitTokens: 50_000 } });
    const client = clientOf({ "x-varve-session": "edited" });
    const first: Messages = [{ role: "user", content: "one" }];
    const reply = await client.messages.create({ model, max_tokens: 100, messages: first });
    const asked = (content: string): Messages => [
      ...first,
      { role: "assistant", content: reply.content },
      { role: "user", content },
    ];
    await client.messages.create({ model, max_tokens: 100, messages: asked("two") });
    await client.messages.create({ model, max_tokens: 100, messages: asked("two, said otherwise") });
    const [session] = await stage.sessions();
    expect(session).toBeDefined();
    if (!session) return;
    const branches = await stage.varve.transcripts.branches(session);
    expect(branches).toHaveLength(2);
    expect((await storedTexts()).join()).toContain("otherwise");
    const found = await stage.varve.context.grep({ session, pattern: "^two$" });
    expect(found.matches).toHaveLength(1);
  });
});

const toolUser = (turns: number): ((body: Json, n: number) => Said) => {
  return (body, n) => {
    const last = JSON.stringify((body.messages as Json[]).at(-1));
    if (last.includes("What was the code word")) {
      expect(JSON.stringify(body.tools)).toContain("lcm_grep");
      return {
        text: "Let me look.",
        calls: [{ id: `toolu_own_${n}`, name: "lcm_grep", input: { pattern: "code word is" } }],
      };
    }
    if (last.includes("tool_result")) {
      const found = /code word is (\w+)/.exec(last)?.[1];
      return { thinking: "It was found.", text: `It was ${found}.` };
    }
    return { text: `answer ${n} of ${turns}: ${words(20, n)}` };
  };
};

describe("a request that does not fit", () => {
  it("is learned from the provider's refusal, and never fails for the client", async () => {
    stage = await setProxyStage({ server: { limitTokens: 8_000 } });
    const client = clientOf({ "x-varve-session": "long" });
    const messages: Messages = [];
    for (let turn = 0; turn < 60; turn += 1) {
      messages.push({ role: "user", content: `Question ${turn}: ${words(100, turn)}` });
      const reply = await client.messages.create({ model, max_tokens: 500, system: "Be brief.", messages });
      messages.push({ role: "assistant", content: reply.content });
    }
    const refused = stage.server.seen.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(1);
    const last = stage.server.seen.at(-1)?.body;
    expect(last?.system).toEqual([
      { type: "text", text: "Be brief." },
      { type: "text", text: expect.stringContaining("lcm_grep") },
    ]);
    const sent = last?.messages as Json[];
    expect(JSON.stringify(sent[0])).toContain("<summary id=");
    expect(sent.at(-1)).toEqual(messages.at(-2));
    expect(await storedTexts()).toHaveLength(120);
    expect(failuresIn(stage.log)).toEqual([]);
  });

  it.each([true, false])("has its recall tools answered inside (stream: %s)", async (stream) => {
    stage = await setProxyStage({ server: { limitTokens: 8_000, say: toolUser(50) }, proxy: { windowTokens: 8_000 } });
    const client = clientOf({ "x-varve-session": "recalled" });
    const messages: Messages = [];
    const ask = async (content: string): Promise<Anthropic.Message> => {
      messages.push({ role: "user", content });
      const request = { model, max_tokens: 500, messages };
      const reply = stream
        ? await client.messages.stream(request).finalMessage()
        : await client.messages.create(request);
      messages.push({ role: "assistant", content: reply.content });
      return reply;
    };
    await ask("Remember: the code word is heliotrope.");
    for (let turn = 0; turn < 50; turn += 1) await ask(`Question ${turn}: ${words(100, turn)}`);
    const { before, after } = await betweenCompactions(
      () => stage.varve,
      async () => {
        const reply = await ask("What was the code word?");
        expect(reply.stop_reason).toBe("end_turn");
        expect(reply.content).toEqual([
          { type: "text", text: "Let me look." },
          { type: "thinking", thinking: "It was found.", signature: "signed:13" },
          { type: "text", text: "It was heliotrope." },
        ]);
        expect(reply.usage.output_tokens).toBeGreaterThan(10);
        const sent = stage.server.seen.at(-1)?.body.messages as Json[];
        await ask("Thank you.");
        return { before: sent, after: stage.server.seen.at(-1)?.body.messages as Json[] };
      },
    );
    expect(stage.server.seen.filter(({ status }) => status !== 200)).toEqual([]);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(JSON.stringify(after)).toContain("toolu_own");
  });

  it.each([true, false])(
    "gives the client its own calls alone, when both are called at once (stream: %s)",
    async (stream) => {
      let answered: Json[] | undefined;
      const say = (body: Json): Said => {
        const all = body.messages as Json[];
        const last = JSON.stringify(all.at(-1));
        if (last.includes("Do both")) {
          return {
            calls: [
              { id: "toolu_ours", name: "lcm_grep", input: { pattern: "heliotrope" } },
              { id: "toolu_theirs", name: "weather", input: { city: "Oslo" } },
            ],
          };
        }
        if (last.includes("tool_result")) answered = all.slice(-2);
        return { text: words(20, all.length) };
      };
      stage = await setProxyStage({ server: { limitTokens: 8_000, say }, proxy: { windowTokens: 8_000 } });
      const client = clientOf({ "x-varve-session": "both" });
      const tools: Anthropic.Tool[] = [{ name: "weather", input_schema: { type: "object" } }];
      const messages: Messages = [];
      const ask = async (content: Anthropic.MessageParam["content"]): Promise<Anthropic.Message> => {
        messages.push({ role: "user", content });
        const request = { model, max_tokens: 500, messages, tools };
        const reply = stream
          ? await client.messages.stream(request).finalMessage()
          : await client.messages.create(request);
        messages.push({ role: "assistant", content: reply.content });
        return reply;
      };
      await ask("the word is heliotrope");
      for (let turn = 0; turn < 50; turn += 1) await ask(`Question ${turn}: ${words(100, turn)}`);
      const reply = await ask("Do both");
      expect(reply.stop_reason).toBe("tool_use");
      expect(reply.content).toEqual([
        { type: "tool_use", id: "toolu_theirs", name: "weather", input: { city: "Oslo" } },
      ]);
      await ask([{ type: "tool_result", tool_use_id: "toolu_theirs", content: "rain" }]);
      expect(answered).toMatchObject([
        { role: "assistant", content: [{ id: "toolu_ours" }, { id: "toolu_theirs" }] },
        {
          role: "user",
          content: [
            { tool_use_id: "toolu_ours", content: expect.stringContaining("heliotrope") },
            { tool_use_id: "toolu_theirs", content: "rain" },
          ],
        },
      ]);
      expect(stage.server.seen.filter(({ status }) => status !== 200)).toEqual([]);
    },
  );
});
