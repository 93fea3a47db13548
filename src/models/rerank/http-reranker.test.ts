import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type ConfigInput, loadConfig } from "../../config/index.ts";
import { holdTimeouts } from "../../domain/held-timeouts.test-util.ts";
import { openConfiguredReranker } from "./http-reranker.ts";
import { parseScores } from "./rerank-apis.ts";

interface Asked {
  url: string;
  headers: IncomingMessage["headers"];
  body: unknown;
}

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function serve(act: (response: ServerResponse) => void) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const body: unknown = JSON.parse(Buffer.concat(parts).toString());
      asked.push({ url: request.url ?? "", headers: request.headers, body });
      act(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { asked, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function open(search: ConfigInput["search"], provider: string, baseUrl?: string, apiKey?: string) {
  const clock = { time: 0, now: () => clock.time };
  const { config } = loadConfig({
    home: "/nonexistent",
    env: {},
    overrides: { search, models: { providers: baseUrl === undefined ? {} : { [provider]: { baseUrl, apiKey } } } },
  });
  const reranker = openConfiguredReranker(config, { home: "/nonexistent", env: {}, clock });
  if (!reranker) throw new Error("there is no reranker");
  return { reranker, clock };
}

const rows = [
  { index: 1, relevance_score: 0.9 },
  { index: 0, relevance_score: 0.2 },
];
const plain = { query: "q", documents: ["a", "b"], top_n: 2, return_documents: false };

afterEach(() => vi.restoreAllMocks());

describe("a reranker over HTTP", () => {
  it.each([
    ["jina", "/rerank", { model: "jina-reranker-v3", ...plain }, { results: rows }],
    ["jina/other", "/rerank", { model: "other", ...plain }, { results: rows }],
    ["siliconflow", "/rerank", { model: "BAAI/bge-reranker-v2-m3", ...plain }, { results: rows }],
    [
      "voyage",
      "/rerank",
      { model: "rerank-2.5", query: "q", documents: ["a", "b"], top_k: 2, return_documents: false },
      { data: rows },
    ],
    [
      "pinecone",
      "/rerank",
      { ...plain, model: "bge-reranker-v2-m3", documents: [{ text: "a" }, { text: "b" }] },
      { data: rows.map(({ index, relevance_score }) => ({ index, score: relevance_score })) },
    ],
    [
      "dashscope",
      "/services/rerank/text-rerank/text-rerank",
      {
        model: "gte-rerank-v2",
        input: { query: "q", documents: ["a", "b"] },
        parameters: { return_documents: false, top_n: 2 },
      },
      { output: { results: rows } },
    ],
    [
      "tei",
      "/rerank",
      { query: "q", texts: ["a", "b"], truncate: true },
      rows.map(({ index, relevance_score }) => ({ index, score: relevance_score })),
    ],
  ])("uses the format of %s", async (named, path, body, answer) => {
    const { asked, baseUrl } = await serve((response) => response.end(JSON.stringify(answer)));
    const { reranker } = open({ reranker: named }, named.split("/")[0] ?? "", baseUrl, "k1");
    expect(await reranker.rerank("q", ["a", "b"])).toEqual([
      { index: 1, score: 0.9 },
      { index: 0, score: 0.2 },
    ]);
    expect(asked[0]).toMatchObject({ url: path, body });
    const { authorization, "api-key": apiKey } = asked[0]?.headers ?? {};
    expect(named === "pinecone" ? apiKey : authorization).toMatch(/k1$/);
  });

  it("fails at its time limit, and pauses", async () => {
    const timeouts = holdTimeouts();
    const { asked, baseUrl } = await serve(() => timeouts.expireAll());
    const { reranker, clock } = open({ reranker: "tei", rerankerTimeoutMs: 100 }, "tei", baseUrl);
    await expect(reranker.rerank("q", ["a"])).rejects.toMatchObject({ code: "MODEL_TIMEOUT" });
    await expect(reranker.rerank("q", ["a"])).rejects.toThrow("tei gave no answer within 100 ms");
    expect(asked).toHaveLength(1);
    clock.time += 60_000;
    await expect(reranker.rerank("q", ["a"])).rejects.toMatchObject({ code: "MODEL_TIMEOUT" });
    expect(asked).toHaveLength(2);
  });

  it.each([
    [401, "{}", "MODEL_KEY_REFUSED"],
    [500, "oops", "MODEL_FAILED"],
    [200, "<html>", "MODEL_FAILED"],
    [200, '{"scores":[1]}', "MODEL_FAILED"],
  ])("fails on HTTP %d with %s", async (status, text, code) => {
    const { baseUrl } = await serve((response) => response.writeHead(status).end(text));
    const { reranker } = open({ reranker: "jina" }, "jina", baseUrl, "k");
    await expect(reranker.rerank("q", ["a"])).rejects.toMatchObject({ code });
  });

  it("reports a missing key, and the available rerankers", async () => {
    await expect(open({ reranker: "jina" }, "jina").reranker.rerank("q", ["a"])).rejects.toThrow("no key for jina");
    expect(() => open({ reranker: "nobody" }, "nobody")).toThrow(/reranker/);
  });

  it("accepts each index once, from 0 to 1, and none that was not sent", () => {
    const answer = [
      { index: 0, score: 7 },
      { index: 0, score: 0.1 },
      { index: 5, score: 0.5 },
      { index: 1, score: -1 },
    ];
    expect(parseScores(answer, 2)).toEqual([
      { index: 0, score: 1 },
      { index: 1, score: 0 },
    ]);
  });
});
