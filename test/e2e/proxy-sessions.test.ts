/** Conversations across restarts, under the names that clients give them, and what counting says about them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { afterEach, describe, expect, it } from "vitest";
import { type Gateway, startGateway } from "../../src/http/index.ts";
import { openVarve, type Varve } from "../../src/index.ts";
import type { Json, Said } from "../support/model-server/dialect.ts";
import { type ModelServer, startModelServer } from "../support/model-server/server.ts";
import { betweenCompactions, type ProxyStage, setProxyStage, words } from "./proxy-stage.ts";

const model = "claude-local";
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

interface Running {
  varve: Varve;
  gateway: Gateway;
  stop(): Promise<void>;
}

async function start(home: string, server: ModelServer): Promise<Running> {
  const varve = await openVarve({
    home,
    background: false,
    config: { proxy: { anthropic: { baseUrl: server.url }, windowTokens: server.options.limitTokens } },
  });
  const gateway = await startGateway(varve, { port: 0 });
  return {
    varve,
    gateway,
    stop: async () => {
      await gateway.close();
      await varve.close();
    },
  };
}

const lookingUp = (body: Json, n: number): Said => {
  const last = JSON.stringify((body.messages as Json[]).at(-1));
  return last.includes("Look it up")
    ? { calls: [{ id: `toolu_${n}`, name: "lcm_grep", input: { pattern: "Question 1:" } }] }
    : { text: `answer ${n}: ${words(20, n)}` };
};

describe("a restart", () => {
  it("changes nothing of what the provider is sent, and writes nothing twice", async () => {
    const home = mkdtempSync(join(tmpdir(), "varve-proxy-"));
    const server = await startModelServer({ limitTokens: 8_000, say: lookingUp });
    ends.push(server.close, async () => rmSync(home, { recursive: true, force: true }));
    const messages: Anthropic.MessageParam[] = [];
    const ask = async ({ gateway }: Running, content: string): Promise<void> => {
      const client = new Anthropic({ apiKey: "k", baseURL: `${gateway.url}/proxy/anthropic`, maxRetries: 0 });
      messages.push({ role: "user", content });
      const reply = await client.messages.create({ model, max_tokens: 200, messages });
      messages.push({ role: "assistant", content: reply.content });
    };
    let running = await start(home, server);
    for (let turn = 0; turn < 50; turn += 1) await ask(running, `Question ${turn}: ${words(100, turn)}`);
    const { before, after } = await betweenCompactions(
      () => running.varve,
      async () => {
        await ask(running, "Look it up.");
        await running.stop();
        const sentBefore = server.seen.at(-1)?.body;
        running = await start(home, server);
        await ask(running, "And now?");
        return { before: sentBefore, after: server.seen.at(-1)?.body };
      },
    );
    const sent = (before?.messages ?? []) as Json[];
    const sentAfter = (after?.messages ?? []) as Json[];
    expect(sent.length).toBeGreaterThan(3);
    expect(sentAfter.slice(0, sent.length)).toEqual(sent);
    expect(after?.system).toEqual(before?.system);
    expect(after?.tools).toEqual(before?.tools);
    const { sessions } = await running.varve.sessions.list();
    const [session] = sessions;
    expect(sessions).toHaveLength(1);
    if (!session) return;
    const texts: string[] = [];
    for await (const page of running.varve.transcripts.walk(session)) {
      for (const entry of page) if (entry.type === "message") texts.push(JSON.stringify(entry.message.content));
    }
    expect(texts).toEqual(messages.map(({ content }) => JSON.stringify(content)));
    expect(await running.varve.transcripts.branches(session)).toHaveLength(1);
    await running.stop();
  });
});

describe("a client's own session", () => {
  const header = "x-claude-code-session-id";
  const open = async (): Promise<ProxyStage> => {
    const stage = await setProxyStage({ server: { limitTokens: 50_000 } });
    ends.push(stage.end);
    return stage;
  };
  const client = (stage: ProxyStage, headers: Record<string, string>): Anthropic =>
    new Anthropic({ apiKey: "k", baseURL: stage.anthropic, maxRetries: 0, defaultHeaders: headers });

  it("holds together what moves between two requests: marks for caches, reminders, thoughts", async () => {
    const stage = await open();
    const claude = client(stage, { [header]: "0d0e8c7a-7c2f-4a43-8f8c-1b7f3a6a0001" });
    const mark = { cache_control: { type: "ephemeral" as const } };
    const reminder = { type: "text" as const, text: "<system-reminder>\nToday is Monday.\n</system-reminder>" };
    const ask = (messages: Anthropic.MessageParam[]) => claude.messages.create({ model, max_tokens: 100, messages });
    await ask([{ role: "user", content: [reminder, { type: "text", text: "Begin.", ...mark }] }]);
    await ask([
      { role: "user", content: "Begin." },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm", signature: "s" },
          { type: "text", text: "answer 1" },
        ],
      },
      { role: "user", content: [{ type: "text", text: "Go on.", ...mark }] },
    ]);
    const [session] = await stage.sessions();
    expect(session?.messageCount).toBe(4);
  });

  it("separates side requests of a client from its conversation", async () => {
    const stage = await open();
    const claude = client(stage, { [header]: "0d0e8c7a-7c2f-4a43-8f8c-1b7f3a6a0002" });
    await claude.messages.create({ model, max_tokens: 9, messages: [{ role: "user", content: "Begin." }] });
    await claude.messages.create({ model, max_tokens: 9, messages: [{ role: "user", content: "Title this: Begin." }] });
    expect(await stage.sessions()).toHaveLength(2);
  });

  it("stays one when the client compacts its history and continues from the summary", async () => {
    const stage = await open();
    const claude = client(stage, { [header]: "0d0e8c7a-7c2f-4a43-8f8c-1b7f3a6a0003" });
    const ask = (messages: Anthropic.MessageParam[]) => claude.messages.create({ model, max_tokens: 100, messages });
    const summary = "1. The archive password is tangerine and nobody else knows it.";
    stage.server.options = { ...stage.server.options, say: () => ({ text: `<summary>\n${summary}\n</summary>` }) };
    await ask([
      { role: "user", content: "The archive password is tangerine, as of the 3rd of May." },
      { role: "assistant", content: "I see." },
      { role: "user", content: "Summarise this conversation." },
    ]);
    const begins: Anthropic.MessageParam = { role: "user", content: `This is continued. Summary:\n${summary}` };
    stage.server.options = { ...stage.server.options, say: () => ({ text: "Go on, then." }) };
    const reply = await ask([begins]);
    await ask([begins, { role: "assistant", content: reply.content }, { role: "user", content: "And now?" }]);
    const sessions = await stage.sessions();
    const session = sessions.find(({ messageCount }) => messageCount > 0);
    expect(sessions.filter(({ messageCount }) => messageCount > 0)).toHaveLength(1);
    if (!session) return;
    expect(session.messageCount).toBe(8);
    expect(await stage.varve.transcripts.branches(session)).toHaveLength(2);
    const found = await stage.varve.context.grep({ session, pattern: "3rd of May|And now" });
    expect(found.matches).toHaveLength(2);
  });

  it("is told apart from another's with the same first words, once something was answered", async () => {
    const stage = await open();
    const anyone = client(stage, {});
    await anyone.messages.create({ model, max_tokens: 9, messages: [{ role: "user", content: "hi" }] });
    await anyone.messages.create({ model, max_tokens: 9, messages: [{ role: "user", content: "hi" }] });
    expect(await stage.sessions()).toHaveLength(2);
  });
});

describe("counting tokens", () => {
  it.each([true, false])("is about what would be sent (provider counts: %s)", async (hasCounting) => {
    const stage = await setProxyStage({
      server: { limitTokens: 8_000, hasCounting },
      proxy: { windowTokens: 8_000 },
    });
    ends.push(stage.end);
    const client = new Anthropic({
      apiKey: "k",
      baseURL: stage.anthropic,
      maxRetries: 0,
      defaultHeaders: { "x-varve-session": "counted" },
    });
    const messages: Anthropic.MessageParam[] = [];
    for (let turn = 0; turn < 60; turn += 1) {
      messages.push({ role: "user", content: `Question ${turn}: ${words(100, turn)}` });
      const reply = await client.messages.create({ model, max_tokens: 200, messages });
      messages.push({ role: "assistant", content: reply.content });
    }
    const sent = stage.server.seen.at(-1)?.tokens ?? 0;
    const { input_tokens } = await client.messages.countTokens({ model, messages });
    expect(input_tokens).toBeGreaterThan(sent * 0.8);
    expect(input_tokens).toBeLessThan(8_000);
  });
});
