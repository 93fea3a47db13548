/** The model proxy with changed requests, and with upstreams whose answers and streams are broken: never a crash. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ProxyStage, setProxyStage } from "../e2e/proxy-stage.ts";
import { isLongRun } from "../support/long-run.ts";
import { rngOf, seedOfRun } from "../support/rng.ts";
import { mutateBytes, mutateJson } from "./hostile-values.ts";

const seed = seedOfRun();
const count = isLongRun ? 1_500 : 60;

const said = { role: "user", content: "Which valve is blue?" };
const events = (values: object[]) => values.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("");
const formats = [
  {
    name: "Anthropic messages",
    path: "/proxy/anthropic/v1/messages",
    request: { model: "m", max_tokens: 100, messages: [said], stream: false },
    answer: {
      id: "a",
      type: "message",
      role: "assistant",
      model: "m",
      content: [{ type: "text", text: "The first." }],
    },
    stream: `event: message_start\n${events([{ type: "message_start", message: { id: "a", type: "message", role: "assistant", content: [] } }])}event: content_block_start\n${events([{ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }])}event: content_block_delta\n${events([{ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "The first." } }])}event: message_stop\n${events([{ type: "message_stop" }])}`,
  },
  {
    name: "OpenAI chat",
    path: "/proxy/openai/v1/chat/completions",
    request: { model: "m", messages: [said], stream: false },
    answer: { id: "c", choices: [{ index: 0, message: { role: "assistant", content: "The first." } }] },
    stream: `${events([{ id: "c", choices: [{ index: 0, delta: { role: "assistant", content: "The first." } }] }])}data: [DONE]\n\n`,
  },
  {
    name: "OpenAI responses",
    path: "/proxy/openai/v1/responses",
    request: { model: "m", input: [said], stream: false },
    answer: {
      id: "r",
      output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "Yes." }] }],
    },
    stream: events([
      { type: "response.created", response: { id: "r" } },
      { type: "response.output_text.delta", delta: "The first." },
      { type: "response.completed", response: { id: "r", output: [] } },
    ]),
  },
] as const;

describe(`the proxy (VARVE_TEST_SEED=${seed})`, () => {
  let stage: ProxyStage;
  let upstream: Server;
  /** What the upstream says next. */
  let next: { status: number; type: string; body: Buffer; isCut: boolean };

  beforeAll(async () => {
    upstream = createServer((request, response) => {
      request.resume().on("end", () => {
        response.writeHead(next.status, { "content-type": next.type });
        response.write(next.body);
        if (next.isCut) response.destroy();
        else response.end();
      });
    });
    upstream.listen(0, "127.0.0.1");
    await once(upstream, "listening");
    const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    stage = await setProxyStage({
      // Not used: the settings below name another upstream.
      server: { limitTokens: 1_000 },
      proxy: { anthropic: { baseUrl: url }, openai: { baseUrl: `${url}/v1` } },
    });
  });
  afterAll(async () => {
    await stage.end();
    upstream.closeAllConnections();
    upstream.close();
  });

  const post = async (path: string, body: string | Buffer) => {
    const response = await fetch(`http://127.0.0.1:${stage.gateway.port}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer key", "x-api-key": "key" },
      body,
    });
    // A stream that the upstream cut is cut for the client too.
    const text = await response.text().catch(() => undefined);
    return { status: response.status, text };
  };

  test.each(formats)("$name: changed requests get what the upstream said, or a clear error", async (format) => {
    const rng = rngOf(seed, format.name, "requests");
    const answer = JSON.stringify(format.answer);
    next = { status: 200, type: "application/json", body: Buffer.from(answer), isCut: false };
    for (let index = 0; index < count; index += 1) {
      const body =
        rng.int(0, 2) === 0
          ? mutateBytes(rng, Buffer.from(JSON.stringify(format.request)))
          : (JSON.stringify(mutateJson(rng, format.request)) ?? "");
      const { status, text } = await post(format.path, body);
      const what = `seed ${seed}, ${index}: ${String(body).slice(0, 300)}: ${status} ${text?.slice(0, 300)}`;
      if (status === 200) expect(text, what).toBe(answer);
      else expect(status, what).toBeLessThan(500);
    }
  });

  test.each(formats)("$name: broken answers and streams come through as they are", async (format) => {
    const rng = rngOf(seed, format.name, "answers");
    for (let index = 0; index < count; index += 1) {
      const stream = rng.int(0, 1) === 0;
      const whole = Buffer.from(stream ? format.stream : JSON.stringify(format.answer));
      next = {
        status: rng.pick([200, 200, 200, 400, 429, 500, 529]),
        type: stream ? "text/event-stream" : "application/json",
        body: mutateBytes(rng, whole),
        isCut: rng.int(0, 4) === 0,
      };
      const { status, text } = await post(format.path, JSON.stringify({ ...format.request, stream }));
      const what = `seed ${seed}, ${index}: ${next.body.toString("latin1").slice(0, 300)}`;
      if (text === undefined || next.isCut) continue;
      expect(status, what).toBe(next.status);
      const sent = next.body.toString();
      // The last event of a stream may be incomplete; what has no end is no event.
      const rest = stream && sent.startsWith(text) ? sent.slice(text.length) : "";
      expect(rest, what).not.toMatch(/\n\n|\r\n\r\n/);
      expect(text + rest, what).toBe(sent);
    }
  });

  test("OpenAI responses: a stream that ends before its first output comes through", async () => {
    const body = 'data: {"type":"response.created","response":{"id":"r"}}\n\ndata: {"type":"respon';
    next = { status: 200, type: "text/event-stream", body: Buffer.from(body), isCut: false };
    const { path, request } = formats[2];
    const { text } = await post(path, JSON.stringify({ ...request, stream: true }));
    expect(text).toContain("response.created");
  });

  test("is alive, and its store is whole", async () => {
    const [{ path, request, answer }] = formats;
    next = { status: 200, type: "application/json", body: Buffer.from(JSON.stringify(answer)), isCut: false };
    expect(await post(path, JSON.stringify(request))).toMatchObject({ status: 200 });
    const { findings } = await stage.varve.doctor();
    expect(findings.flatMap((finding) => finding.faults)).toEqual([]);
  });
});
