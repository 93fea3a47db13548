/** Many clients at once, and many requests of one conversation at once. */
import Anthropic from "@anthropic-ai/sdk";
import { afterEach, describe, expect, it } from "vitest";
import { failuresIn, introduceKey, type ProxyStage, setProxyStage, words } from "./proxy-stage.ts";

let stage: ProxyStage;
afterEach(() => stage.end());

const request = { model: "claude-local", max_tokens: 200 };

function clientOf(session: string): Anthropic {
  return new Anthropic({
    apiKey: "sk-client",
    baseURL: stage.anthropic,
    maxRetries: 0,
    defaultHeaders: { "x-varve-session": session },
  });
}

describe("many at once", () => {
  it("conversations are kept apart, and none of them fails", async () => {
    stage = await setProxyStage({
      server: { limitTokens: 8_000 },
      proxy: { windowTokens: 8_000, sessionsInMemory: 4 },
    });
    const turns = 25;
    const talk = async (name: string): Promise<void> => {
      const client = clientOf(name);
      const messages: Anthropic.MessageParam[] = [];
      for (let turn = 0; turn < turns; turn += 1) {
        messages.push({ role: "user", content: `${name} asks ${turn}: ${words(160, turn)}` });
        const reply = await client.messages.stream({ ...request, messages }).finalMessage();
        messages.push({ role: "assistant", content: reply.content });
      }
    };
    const names = Array.from({ length: 8 }, (_, index) => `talker-${index}`);
    await Promise.all(names.map(talk));
    const sessions = await stage.sessions();
    expect(sessions.map(({ messageCount }) => messageCount)).toEqual(names.map(() => 2 * turns));
    for (const session of sessions) {
      const own = await stage.varve.context.grep({
        session,
        pattern: "talker-\\d asks",
        limit: 200,
        scope: "messages",
      });
      expect(new Set(own.matches.map(({ snippet }) => /talker-\d/.exec(snippet)?.[0])).size).toBe(1);
      expect(await stage.varve.transcripts.branches(session)).toHaveLength(1);
    }
    expect(stage.server.seen.filter(({ status }) => status !== 200)).toEqual([]);
    expect(failuresIn(stage.log)).toEqual([]);
  });

  it("requests with one history become branches of it", async () => {
    stage = await setProxyStage({ server: { limitTokens: 8_000 }, proxy: { windowTokens: 8_000 } });
    await introduceKey(stage, "sk-client");
    const client = clientOf("fan");
    const history: Anthropic.MessageParam[] = Array.from({ length: 100 }, (_, index) => ({
      role: index % 2 === 0 ? "user" : "assistant",
      content: `Message ${index}: ${words(80, index)}`,
    }));
    const ask = (index: number) =>
      client.messages.create({
        ...request,
        messages: [...history, { role: "user", content: `fan question ${index}` }],
      });
    const replies = await Promise.all(Array.from({ length: 6 }, (_, index) => ask(index)));
    expect(replies.every(({ content }) => content[0]?.type === "text")).toBe(true);
    const [session] = await stage.sessions();
    expect(session?.messageCount).toBe(100 + 2 * replies.length);
    const found = await stage.varve.context.grep({ session, pattern: "^fan question", scope: "messages" });
    expect(found.matches).toHaveLength(replies.length);
    expect(stage.server.seen.filter(({ status }) => status !== 200)).toEqual([]);
    expect(failuresIn(stage.log)).toEqual([]);
  });
});
