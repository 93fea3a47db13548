/** Providers that misbehave, clients that go away, and an engine that fails: nobody is worse off for the proxy. */
import Anthropic from "@anthropic-ai/sdk";
import { afterEach, describe, expect, it } from "vitest";
import type { Varve } from "../../src/index.ts";
import type { Fault, Json } from "../support/model-server/dialect.ts";
import {
  failuresIn,
  introduceKey,
  type ProxyStage,
  type ProxyStageOptions,
  proxyCounts,
  setProxyStage,
  words,
} from "./proxy-stage.ts";

let stage: ProxyStage;
afterEach(() => stage.end());

const model = "claude-local";
const question = { model, max_tokens: 100, messages: [{ role: "user" as const, content: "hello" }] };

function clientOf(): Anthropic {
  return new Anthropic({
    apiKey: "sk-client",
    baseURL: stage.anthropic,
    maxRetries: 0,
    defaultHeaders: { "x-varve-session": "faults" },
  });
}

function post(body: unknown, init: RequestInit = {}): Promise<Response> {
  return fetch(`${stage.anthropic}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": "sk-client", "x-varve-session": "faults" },
    body: JSON.stringify(body),
    ...init,
  });
}

const faulty = (fault: Fault): Promise<ProxyStage> =>
  setProxyStage({ server: { limitTokens: 8_000, fault: () => fault } });

/** A conversation that is longer than the window. */
function longHistory(turns = 60): Anthropic.MessageParam[] {
  return Array.from({ length: turns * 2 + 1 }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: `Message ${index}: ${words(80, index)}`,
  }));
}

describe("a provider that misbehaves", () => {
  it("has its errors passed on as they are", async () => {
    for (const status of [401, 429, 500, 529]) {
      const body = `{"type":"error", "error":{"type":"x","message":"status ${status}"}}`;
      stage = await faulty({ kind: "status", status, body, headers: { "retry-after": "7" } });
      const answer = await post(question);
      expect(answer.status).toBe(status);
      expect(answer.headers.get("retry-after")).toBe("7");
      expect(await answer.text()).toBe(body);
      if (status !== 529) await stage.end();
    }
  });

  it("has what nobody can read passed on as it is", async () => {
    stage = await faulty({ kind: "garbage" });
    expect(await (await post(question)).text()).toBe("<html>what is this</html>");
    const answer = await post({ ...question, messages: longHistory() });
    expect(await answer.text()).toBe("<html>what is this</html>");
    expect(failuresIn(stage.log)).toEqual([]);
  });

  it("that cuts its stream leaves the client with what came, and the log too", async () => {
    stage = await setProxyStage({
      server: { limitTokens: 8_000, fault: () => ({ kind: "cut" }), say: () => ({ text: words(60, 1) }) },
    });
    const stream = clientOf().messages.stream(question);
    const texts: string[] = [];
    stream.on("text", (text) => texts.push(text));
    await expect(stream.finalMessage()).rejects.toThrow();
    const [session] = await stage.sessions();
    if (!session) throw new Error("nothing was kept");
    const { entries } = await stage.varve.transcripts.read(session);
    const last = entries.at(-1);
    expect(last).toMatchObject({ message: { role: "assistant", stopReason: "aborted" } });
    expect(JSON.stringify(last)).toContain(texts.join("").slice(0, 40));
  });

  it("that cannot be reached is an error in its own shape", async () => {
    stage = await setProxyStage({
      server: { limitTokens: 8_000 },
      proxy: { anthropic: { baseUrl: "http://127.0.0.1:9" }, openai: { baseUrl: "http://127.0.0.1:9/v1" } },
    });
    const answer = await post(question);
    expect(answer.status).toBe(502);
    expect(await answer.json()).toMatchObject({ type: "error", error: { type: "api_error" } });
    const chat = await fetch(`${stage.openai}/chat/completions`, { method: "POST", body: JSON.stringify(question) });
    expect(chat.status).toBe(502);
    expect(await chat.json()).toMatchObject({ error: { type: "server_error", message: expect.any(String) } });
  });

  it("that never answers is left alone when the client goes away", async () => {
    stage = await faulty({ kind: "hang" });
    const controller = new AbortController();
    const pending = post(question, { signal: controller.signal });
    await until(() => stage.server.seen.length === 1);
    controller.abort();
    await expect(pending).rejects.toThrow();
    await until(() => stage.server.seen[0]?.aborted === true);
  });

  it("that says nothing for too long is given up", async () => {
    stage = await setProxyStage({
      server: { limitTokens: 8_000, fault: () => ({ kind: "hang" }) },
      proxy: { upstreamTimeoutMs: 150 },
    });
    const answer = await post(question);
    expect(answer.status).toBe(504);
  });

  it("that takes no tools gets the summaries without them", async () => {
    const fault = ({ body }: { body: Json }): Fault | undefined =>
      body.tools === undefined
        ? undefined
        : { kind: "status", status: 400, body: '{"error":{"message":"tools are not supported"}}' };
    stage = await setProxyStage({ server: { limitTokens: 8_000, fault }, proxy: { windowTokens: 8_000 } });
    await introduceKey(stage, "sk-client");
    const answer = await post({ ...question, messages: longHistory() });
    expect(answer.status).toBe(200);
    expect(stage.server.seen.map(({ status }) => status)).toEqual([400, 200]);
    const sent = stage.server.seen.at(-1)?.body;
    expect(JSON.stringify(sent?.messages)).toContain("<summary id=");
    expect(JSON.stringify(sent?.system)).not.toContain("lcm_grep");
  });

  it("that does not take a changed request gets the client's own", async () => {
    const fault = ({ body }: { body: Json }): Fault | undefined =>
      JSON.stringify(body).includes("<summary id=")
        ? { kind: "status", status: 400, body: '{"error":{"message":"I do not like this"}}' }
        : undefined;
    stage = await setProxyStage({ server: { limitTokens: 8_000, fault }, proxy: { windowTokens: 8_000 } });
    await introduceKey(stage, "sk-client");
    const request = { ...question, messages: longHistory() };
    const answer = await post(request);
    expect(await answer.text()).toContain("prompt is too long");
    expect(stage.server.seen.at(-1)?.bytes.toString()).toBe(JSON.stringify(request));
    expect(stage.server.seen).toHaveLength(3);
  });

  it("whose window is smaller than it says is believed by what it takes", async () => {
    const fault = ({ tokens }: { tokens: number }): Fault | undefined =>
      tokens > 4_000
        ? { kind: "status", status: 400, body: '{"error":{"message":"context_length_exceeded"}}' }
        : undefined;
    stage = await setProxyStage({ server: { limitTokens: 100_000, fault }, proxy: { windowTokens: 8_000 } });
    const answer = await post({ ...question, messages: longHistory() });
    expect(answer.status).toBe(200);
    const again = await post({ ...question, messages: longHistory(62) });
    expect(again.status).toBe(200);
    expect(stage.server.seen.at(-1)?.status).toBe(200);
  });

  it("that calls our tools without end is stopped", async () => {
    stage = await setProxyStage({
      server: {
        limitTokens: 8_000,
        say: (body, n) =>
          JSON.stringify(body.tool_choice ?? "").includes("none")
            ? { text: "Enough." }
            : { calls: [{ id: `toolu_${n}`, name: "lcm_grep", input: { pattern: "maple" } }] },
      },
      proxy: { windowTokens: 8_000, recallRoundsMax: 3 },
    });
    await introduceKey(stage, "sk-client");
    const reply = await clientOf().messages.create({ ...question, messages: longHistory() });
    expect(reply.content).toEqual([{ type: "text", text: "Enough." }]);
    expect(stage.server.seen.length).toBeLessThanOrEqual(4);
  });
});

describe("an engine that fails", () => {
  const failing = (part: Partial<Varve["context"]>, rest: Partial<ProxyStageOptions> = {}): Promise<ProxyStage> =>
    setProxyStage({
      server: { limitTokens: 100_000 },
      wrap: (varve) => ({ ...varve, context: { ...varve.context, ...part } }),
      ...rest,
    });
  const broken = (): Promise<never> => Promise.reject(new Error("the disk is on fire"));

  it("does not keep a request from its provider, unchanged, when nothing can be written", async () => {
    stage = await failing({ ingest: broken });
    const body = JSON.stringify(question);
    const answer = await post(question);
    expect(await answer.json()).toMatchObject({ content: [{ text: "answer 1" }] });
    expect(stage.server.seen[0]?.bytes.toString()).toBe(body);
    expect(failuresIn(stage.log).length).toBeGreaterThan(0);
    expect(await proxyCounts(stage)).toMatchObject({ requests: 1, notStored: 1 });
  });

  it("does not keep a request from its provider, unchanged, when nothing can be compacted", async () => {
    stage = await failing({ compact: broken }, { proxy: { windowTokens: 8_000 } });
    await introduceKey(stage, "sk-client");
    const request = { ...question, messages: longHistory() };
    const answer = await post(request);
    expect(answer.status).toBe(200);
    expect(stage.server.seen[0]?.bytes.toString()).toBe(JSON.stringify(request));
    expect(await proxyCounts(stage)).toMatchObject({ failures: 1, replaced: 0 });
  });

  it("is not waited for longer than the settings say", async () => {
    stage = await failing(
      { compact: () => new Promise<never>(() => undefined) },
      { proxy: { windowTokens: 8_000, engineTimeoutMs: 200 } },
    );
    await introduceKey(stage, "sk-client");
    const request = { ...question, messages: longHistory() };
    const answer = await post(request);
    expect(answer.status).toBe(200);
    expect(stage.server.seen[0]?.bytes.toString()).toBe(JSON.stringify(request));
  });

  it("leaves the provider's refusal to the client when nothing helps", async () => {
    stage = await failing({ compact: broken, summaryPrefix: broken }, { server: { limitTokens: 8_000 } });
    const answer = await post({ ...question, messages: longHistory() });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { message: expect.stringContaining("prompt is too long") } });
  });

  it("tells a model that a tool failed, and nothing of why", async () => {
    stage = await failing(
      { grep: broken },
      {
        server: {
          limitTokens: 8_000,
          say: (body) => {
            const last = JSON.stringify((body.messages as Json[]).at(-1));
            expect(last).not.toContain("fire");
            return last.includes("tool_result")
              ? { text: "I could not look." }
              : { calls: [{ id: "toolu_1", name: "lcm_grep", input: { pattern: "x" } }] };
          },
        },
        proxy: { windowTokens: 8_000 },
      },
    );
    const reply = await clientOf().messages.create({ ...question, messages: longHistory() });
    expect(reply.content).toEqual([{ type: "text", text: "I could not look." }]);
  });
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
