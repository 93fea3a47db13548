import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { holdTimeouts } from "../domain/held-timeouts.test-util.ts";
import { createChain } from "./chain.ts";
import { openModel } from "./configured.ts";
import type { GenerateRequest } from "./generate.ts";
import type { ChainLimits } from "./model-state.ts";
import { createInMemoryLedger } from "./model-state.ts";

type Act = (response: ServerResponse) => void;

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const request: GenerateRequest = { purpose: "summary", system: "s", user: "u", temperature: 0, maxTokens: 200 };

/** A server that performs these actions in turn, repeating the last one, and a chain of one model that calls it. */
async function stage(
  name: "openai/m" | "anthropic/m" | "google/m" | "ollama/m",
  acts: Act[],
  limits: Partial<ChainLimits> = {},
) {
  let requests = 0;
  let cut = 0;
  const server = createServer((incoming, response) => {
    requests += 1;
    response.on("close", () => (cut += response.writableFinished ? 0 : 1));
    incoming.resume().on("end", () => acts[Math.min(requests, acts.length) - 1]?.(response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const [provider = ""] = name.split("/");
  const providers = { [provider]: { apiKey: "k", baseUrl } };
  const model = openModel(name, { providers, auth: {}, env: {}, home: "/nonexistent" });
  const slept: number[] = [];
  const ledger = createInMemoryLedger();
  const sleep = async (ms: number) => void slept.push(ms);
  const random = { bytes: (count: number) => new Uint8Array(count).fill(255) };
  const generate = createChain([model], {
    purpose: "summary",
    ledger,
    sleep,
    random,
    limits: { timeoutMs: 600_000, ...limits },
  });
  return { generate, slept, ledger, requests: () => requests, cut: () => cut };
}

const event = (value: unknown) => `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`;
const delta = (content: string, finish: string | null = null) =>
  event({
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta: { content }, finish_reason: finish }],
  });
const open = (response: ServerResponse) => response.writeHead(200, { "content-type": "text/event-stream" });
const whole = `${delta("All ")}${delta("is well.")}${delta("", "stop")}${event("[DONE]")}`;
const fine: Act = (response) => open(response).end(whole);
const status = (code: number, body = "{}", headers: Record<string, string> = {}): Act => {
  return (response) => response.writeHead(code, { "content-type": "application/json", ...headers }).end(body);
};

afterEach(() => vi.restoreAllMocks());

describe("a server that misbehaves", () => {
  it("may be slow, as long as it finishes", async () => {
    const slow: Act = (response) => {
      open(response);
      let sent = 0;
      const timer = setInterval(() => {
        sent += 16;
        response.write(whole.slice(sent - 16, sent));
        if (sent >= whole.length) {
          clearInterval(timer);
          response.end();
        }
      }, 1);
    };
    const { generate } = await stage("openai/m", [slow]);
    expect(await generate(request)).toMatchObject({ text: "All is well.", notes: [] });
  });

  it.each<[string, Act, RegExp]>([
    ["an empty answer", (response) => open(response).end(`${delta("", "stop")}${event("[DONE]")}`), /empty/],
    ["a body with nothing in it", (response) => open(response).end(), /interrupted|empty/],
    ["garbage", (response) => open(response).end("<html>\u0000busy</html>\n\n"), /interrupted|empty/],
    ["garbage events", (response) => open(response).end("data: {not json\n\ndata: [1,2\n\n"), /JSON/],
    ["JSON of another kind", status(200, '{"hello":"world"}'), /./],
    ["a stream that is closed early", (response) => open(response).end(delta("All ")), /interrupted/],
    [
      "a stream that breaks",
      (response) => {
        open(response).write(delta("All "));
        setImmediate(() => response.destroy());
      },
      /./,
    ],
    ["a connection that breaks", (response) => response.destroy(), /./],
    ["a server error", status(500, "oops"), /HTTP 500/],
  ])("is retried after %s", async (_, act, fault) => {
    const { generate, slept } = await stage("openai/m", [act, fine]);
    const answer = await generate(request);
    expect(answer.text).toBe("All is well.");
    expect(answer.notes?.[0]).toMatch(fault);
    expect(slept).toEqual([500]);
  });

  it("is given up after three attempts", async () => {
    const { generate, requests, ledger } = await stage("openai/m", [status(503, "busy")]);
    await expect(generate(request)).rejects.toMatchObject({ code: "MODEL_FAILED" });
    expect(requests()).toBe(3);
    expect(await ledger.read("summary openai/m")).toMatchObject({ calls: 3, failures: 3 });
  });

  it.each([
    ["in seconds", () => "7", 7_000],
    ["longer than the limit", () => "86400", 30_000],
  ])("is waited for as it requests: %s", async (_, retryAfter, expected) => {
    const busy = status(429, '{"error":{"message":"slow down"}}', { "retry-after": retryAfter() });
    const { generate, slept } = await stage("openai/m", [busy, fine]);
    expect((await generate(request)).text).toBe("All is well.");
    expect(slept).toEqual([expected]);
  });

  it.each(["openai/m", "anthropic/m", "google/m", "ollama/m"] as const)(
    "is not retried by %s after a 401",
    async (name) => {
      const { generate, requests, ledger } = await stage(name, [status(401, '{"error":{"message":"bad key"}}')]);
      await expect(generate(request)).rejects.toMatchObject({ code: "MODEL_KEY_REFUSED" });
      expect(requests()).toBe(1);
      expect(await ledger.read(`summary ${name}`)).toMatchObject({ authFailures: 1, failures: 1 });
    },
  );

  it("is not read further than useful, and then disconnected", async () => {
    const endless: Act = (response) => {
      open(response);
      const pour = () => {
        while (!response.destroyed && response.write(delta("la ".repeat(50))));
        if (!response.destroyed) response.once("drain", pour);
      };
      pour();
    };
    const { generate, requests, cut } = await stage("openai/m", [endless]);
    const answer = await generate(request);
    expect(answer.text.length).toBeLessThan(10_000);
    expect(answer.notes?.[0]).toMatch(/was still not complete/);
    expect(requests()).toBe(1);
    await expect.poll(cut, { timeout: 600_000 }).toBe(1);
  });

  it("is read to its end when the answer is only slightly too long, and the provider says that it was truncated", async () => {
    const long: Act = (response) => open(response).end(`${delta("word ".repeat(150))}${delta("", "length")}`);
    const { generate } = await stage("openai/m", [long]);
    expect((await generate(request)).notes).toEqual([
      "The answer reached its length limit and was truncated by the provider.",
    ]);
  });

  it.each<[string, Act]>([
    ["says nothing", () => undefined],
    ["stops in the middle", (response) => void open(response).write(delta("All "))],
  ])("is abandoned at the time limit when it %s", async (_, act) => {
    const timeouts = holdTimeouts();
    const { generate, requests, cut } = await stage("openai/m", [
      (response) => {
        act(response);
        timeouts.expireAll();
      },
    ]);
    await expect(generate(request)).rejects.toMatchObject({ code: "MODEL_TIMEOUT" });
    expect(requests()).toBe(1);
    await expect.poll(cut, { timeout: 600_000 }).toBe(1);
  });

  it("is abandoned when the caller aborts", async () => {
    const controller = new AbortController();
    const { generate, cut } = await stage("openai/m", [() => controller.abort()]);
    await expect(generate({ ...request, signal: controller.signal })).rejects.toMatchObject({ code: "ABORTED" });
    await expect.poll(cut, { timeout: 600_000 }).toBe(1);
  });

  it("may report its failure inside the stream", async () => {
    const overloaded: Act = (response) =>
      open(response).end(
        'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
      );
    const { generate, requests } = await stage("anthropic/m", [overloaded]);
    await expect(generate(request)).rejects.toThrow(/Overloaded/);
    expect(requests()).toBe(3);
  });

  it("may report that the prompt is too long, which is not retried", async () => {
    const body =
      '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}';
    const { generate, requests } = await stage("anthropic/m", [status(400, body)]);
    await expect(generate(request)).rejects.toMatchObject({ code: "MODEL_FAILED", details: { overflow: true } });
    expect(requests()).toBe(1);
  });
});
