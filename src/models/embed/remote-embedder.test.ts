import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { type ConfigInput, loadConfig } from "../../config/index.ts";
import { openConfiguredEmbedder } from "./configured-embedder.ts";
import type { RemoteLimits } from "./remote-embedder.ts";

interface Asked {
  url: string;
  headers: IncomingMessage["headers"];
  body: Record<string, unknown>;
}
type Act = (response: ServerResponse, asked: Asked) => void;

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A server that performs these actions in turn, repeating the last one. */
async function serve(acts: Act[]) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const one = {
        url: request.url ?? "",
        headers: request.headers,
        body: JSON.parse(Buffer.concat(parts).toString()),
      };
      asked.push(one);
      acts[Math.min(asked.length, acts.length) - 1]?.(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}

/** Vectors of three numbers: the length of a text, one, and zero. */
const answer: Act = (response, { body }) => {
  const input = body.input as string[];
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ data: input.map((text, index) => ({ index, embedding: [text.length, 1, 0] })) }));
};
const refuse =
  (status: number, headers: Record<string, string> = {}, message = "no"): Act =>
  (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify({ error: { message } }));
  };

function open(search: ConfigInput["search"], providers: object, limits: Partial<RemoteLimits> = {}) {
  const slept: number[] = [];
  const clock = { time: 0, now: () => clock.time };
  const { config } = loadConfig({
    home: "/nonexistent",
    env: {},
    overrides: {
      search: { embedderDimensions: 3, embedderCache: 0, ...search },
      models: { providers: providers as NonNullable<ConfigInput["models"]>["providers"] },
    },
  });
  const embedder = openConfiguredEmbedder(config, {
    home: "/nonexistent",
    env: {},
    limits,
    clock,
    random: { bytes: (count) => new Uint8Array(count).fill(255) },
    sleep: async (ms) => void slept.push(ms),
  });
  return { embedder, slept, clock };
}

const unit = (...values: number[]) => values.map((value) => expect.closeTo(value / Math.hypot(...values), 5));

describe("a remote embedder", () => {
  it("sends texts in batches with their speakers, and returns vectors of length one in order", async () => {
    const { asked, url } = await serve([answer]);
    const { embedder } = open({ embedder: "here/tiny" }, { here: { baseUrl: url, apiKey: "k1" } }, { batch: 2 });
    const made = await embedder.embed([{ text: "abc" }, { text: "ab", speaker: "Ann" }, { text: "abcdef" }]);
    expect(made.map(({ vector }) => [...vector])).toEqual([unit(3, 1, 0), unit(7, 1, 0), unit(6, 1, 0)]);
    expect(asked.map(({ body }) => body.input)).toEqual([["abc", "Ann: ab"], ["abcdef"]]);
    expect(asked[0]).toMatchObject({ url: "/v1/embeddings", headers: { authorization: "Bearer k1" } });
    expect(asked[0]?.body).toMatchObject({ model: "tiny" });
    expect(embedder.space).toEqual({ provider: "here", model: "tiny", dimensions: 3, tokenDimensions: 0 });
    expect((await embedder.embedQuery("what")).vector).toHaveLength(3);
  });

  it("splits a long text and averages its parts", async () => {
    const { asked, url } = await serve([answer]);
    const { embedder } = open({ embedder: "here/tiny" }, { here: { baseUrl: url } }, { pieceTokens: 10 });
    const [made] = await embedder.embed([{ text: "One sentence of some words here. ".repeat(4) }]);
    const sent = asked[0]?.body.input as string[];
    expect(sent.length).toBeGreaterThan(2);
    expect(Math.hypot(...(made?.vector ?? []))).toBeCloseTo(1, 5);
  });

  it("waits as long as requested and retries", async () => {
    const { asked, url } = await serve([refuse(429, { "retry-after": "7" }), refuse(503), answer]);
    const { embedder, slept } = open({ embedder: "here/tiny" }, { here: { baseUrl: url } });
    await embedder.embed([{ text: "a" }]);
    expect(asked).toHaveLength(3);
    expect(slept).toEqual([7_000, 1_000]);
  });

  it("does not retry with a rejected key, and pauses after a failure", async () => {
    const { asked, url } = await serve([refuse(401), answer]);
    const { embedder, clock } = open({ embedder: "here/tiny" }, { here: { baseUrl: url } });
    await expect(embedder.embedQuery("a")).rejects.toMatchObject({ code: "MODEL_KEY_REFUSED" });
    await expect(embedder.embedQuery("a")).rejects.toMatchObject({ code: "MODEL_KEY_REFUSED" });
    expect(asked).toHaveLength(1);
    clock.time += 60_000;
    await embedder.embedQuery("a");
    expect(asked).toHaveLength(2);
  });

  it("calls another provider of the same model, and rejects another model", async () => {
    const broken = await serve([refuse(400)]);
    const whole = await serve([answer]);
    const providers = { one: { baseUrl: broken.url }, two: { baseUrl: whole.url } };
    const { embedder } = open({ embedder: "one/tiny", embedderFallbacks: ["two/org/tiny:latest"] }, providers);
    expect([...(await embedder.embedQuery("abc")).vector]).toEqual(unit(3, 1, 0));
    expect(embedder.space.provider).toBe("one");
    expect(whole.asked[0]?.body.model).toBe("org/tiny:latest");
    expect(() => open({ embedder: "one/tiny", embedderFallbacks: ["two/other"] }, providers)).toThrow(
      "two/other is a different model from one/tiny",
    );
  });

  it.each<[string, Act, RegExp]>([
    ["of another size", (response) => response.end('{"data":[{"embedding":[1,2]}]}'), /2 dimensions, not 3/],
    ["without direction", (response) => response.end('{"data":[{"embedding":[0,0,0]}]}'), /is zero or not finite/],
    ["too few", (response) => response.end('{"data":[]}'), /0 vectors came back|No model answered|Embedding failed/],
    ["no JSON", (response) => response.end("<html>"), /Embedding failed/],
  ])("rejects vectors that are %s", async (_, act, message) => {
    const { url } = await serve([act]);
    const { embedder } = open({ embedder: "here/tiny" }, { here: { baseUrl: url } });
    await expect(embedder.embedQuery("a")).rejects.toThrow(message);
  });

  it("abandons a query that is not answered in time, and stops on abort", async () => {
    const { url } = await serve([() => undefined]);
    const { embedder } = open({ embedder: "here/tiny" }, { here: { baseUrl: url } }, { queryTimeoutMs: 50 });
    await expect(embedder.embedQuery("a")).rejects.toThrow("no answer within 50 ms");
    const controller = new AbortController();
    const { embedder: other } = open({ embedder: "here/tiny" }, { here: { baseUrl: url } });
    const asking = other.embed([{ text: "a" }], controller.signal);
    controller.abort();
    await expect(asking).rejects.toMatchObject({ code: "ABORTED" });
  });

  it("uses the formats of Voyage and Google", async () => {
    const voyage = await serve([
      (response) => response.end('{"data":[{"embedding":[1,2,3]}],"usage":{"total_tokens":1}}'),
    ]);
    const first = open({ embedder: "voyage/voyage-3.5" }, { voyage: { baseUrl: voyage.url, apiKey: "k" } });
    expect([...(await first.embedder.embedQuery("a")).vector]).toEqual(unit(1, 2, 3));
    expect(voyage.asked[0]?.body).toEqual({
      model: "voyage-3.5",
      input: ["a"],
      input_type: "query",
      output_dimension: 3,
    });
    const google = await serve([(response) => response.end('{"embedding":{"values":[1,2,3]}}')]);
    const second = open({ embedder: "google/gemini-embedding-001" }, { google: { baseUrl: google.url, apiKey: "k" } });
    expect([...(await second.embedder.embedQuery("a")).vector]).toEqual(unit(1, 2, 3));
    expect(google.asked[0]?.url).toContain("gemini-embedding-001");
    expect(JSON.stringify(google.asked[0]?.body)).toContain("RETRIEVAL_QUERY");
  });

  it("requires the dimensions of an unknown model", () => {
    const { config } = loadConfig({ home: "/nonexistent", env: {}, overrides: { search: { embedder: "here/tiny" } } });
    expect(() => openConfiguredEmbedder(config, { home: "/nonexistent", env: {} })).toThrow("number of dimensions");
  });

  it("reports an unknown provider or a missing key", async () => {
    const { embedder } = open({ embedder: "nobody/tiny" }, {});
    await expect(embedder.embedQuery("a")).rejects.toMatchObject({ code: "BAD_CONFIG" });
    const { embedder: keyless } = open({ embedder: "openai/text-embedding-3-small" }, {});
    await expect(keyless.embedQuery("a")).rejects.toThrow("no key for openai");
  });
});
