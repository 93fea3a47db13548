/** Credentials of named profiles, on every way to a model: they are asked for, renewed after a refusal, and never shown. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ConfigInput, listConfig, loadConfig } from "../../src/config/index.ts";
import { openVarve } from "../../src/index.ts";
import { openConfiguredEmbedder, openConfiguredModel, openConfiguredReranker } from "../../src/models/index.ts";
import type { Seen } from "../support/model-server/dialect.ts";
import { startModelServer } from "../support/model-server/server.ts";
import { sha256 } from "./gateway-stage.ts";
import { setProxyStage } from "./proxy-stage.ts";

let home: string;
let ended: (() => Promise<void>)[];
/** The access tokens that were given out; only the last one is good. */
let given: string[];
let tokenUrl: string;

async function listen(answer: (request: IncomingMessage, text: string, response: ServerResponse) => void) {
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    response.setHeader("content-type", "application/json");
    answer(request, text, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ended.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "varve-auth-"));
  ended = [async () => rmSync(home, { recursive: true, force: true })];
  given = [];
  let refresh = "sesame-refresh-0";
  tokenUrl = await listen((_, text, response) => {
    const isGood = new URLSearchParams(text).get("refresh_token") === refresh;
    if (!isGood) return response.writeHead(400).end('{"error":"invalid_grant"}');
    given.push(`sesame-access-${given.length + 1}`);
    refresh = `sesame-refresh-${given.length}`;
    response.end(JSON.stringify({ access_token: given.at(-1), refresh_token: refresh, expires_in: 3_600 }));
  });
});
afterEach(async () => {
  for (const end of ended.reverse()) await end();
});

/** Revokes a token: earlier ones are refused. */
const takenBack = "taken back";
const isGood = (headers: IncomingMessage["headers"]) => headers.authorization === `Bearer ${given.at(-1)}`;
const refuseOld = ({ headers }: Pick<Seen, "headers">) =>
  isGood(headers) && headers["x-api-key"] === undefined
    ? undefined
    : ({ kind: "status", status: 401, body: '{"error":{"message":"token expired"}}' } as const);
const revoke = () => given.push(takenBack);
const oauth = () => ({ tokenUrl, clientId: "varve", refreshToken: "sesame-refresh-0" });
const login = (provider: string) => ({ login: { provider, oauth: oauth() } });

function settings(config: ConfigInput) {
  return loadConfig({ home, env: {}, overrides: config }).config;
}

describe.each(["anthropic", "openai", "google"] as const)("a model of %s", (kind) => {
  test("is shown a Bearer token, and another one when that is refused", async () => {
    const shown: IncomingMessage["headers"][] = [];
    const baseUrl = await listen(({ headers }, _, response) => {
      shown.push(headers);
      response.writeHead(isGood(headers) ? 422 : 401).end('{"error":{"message":"it says no more"}}');
    });
    const { models } = settings({
      models: { summary: "lab/m", auth: login("lab"), providers: { lab: { kind, baseUrl } } },
    });
    const generate = openConfiguredModel(models, "summary", { home, env: {} });
    const request = { purpose: "summary" as const, system: "s", user: "u", temperature: 0, maxTokens: 10 };
    await expect(generate?.(request)).rejects.toThrow(/HTTP 422/);
    revoke();
    await expect(generate?.(request)).rejects.toThrow(/HTTP 422/);
    expect(shown.map(({ authorization }) => authorization)).toEqual([
      "Bearer sesame-access-1",
      "Bearer sesame-access-1",
      "Bearer sesame-access-3",
    ]);
    for (const headers of shown) {
      expect(headers["x-api-key"] ?? headers["x-goog-api-key"]).toBeUndefined();
    }
    // What replaced a refused one and is refused itself is not replaced again and again.
    revoke();
    await expect(generate?.(request)).rejects.toMatchObject({ code: "MODEL_KEY_REFUSED" });
    expect(given.filter((token) => token !== takenBack)).toHaveLength(2);
  });
});

test("embedders and rerankers are given them too", async () => {
  const baseUrl = await listen(({ headers, url }, text, response) => {
    if (!isGood(headers)) return response.writeHead(401).end('{"error":{"message":"expired"}}');
    if (url?.endsWith("rerank")) return response.end('{"results":[{"index":0,"relevance_score":0.5}]}');
    const { input } = JSON.parse(text) as { input: string[] };
    response.end(JSON.stringify({ data: input.map((_, index) => ({ index, embedding: [1, 0, 0] })) }));
  });
  const config = settings({
    search: { embedder: "voyage/tiny", embedderDimensions: 3, reranker: "voyage" },
    models: { auth: login("voyage"), providers: { voyage: { baseUrl } } },
  });
  const embedder = openConfiguredEmbedder(config, { home, env: {} });
  const reranker = openConfiguredReranker(config, { home, env: {} });
  expect((await embedder.embedQuery("a")).vector).toHaveLength(3);
  revoke();
  expect(await reranker?.rerank("a", ["b"])).toEqual([{ index: 0, score: 0.5 }]);
  expect((await embedder.embed([{ text: "a" }])).length).toBe(1);
  expect(given).toHaveLength(3);
});

test("a turn goes on with another token, a session may have a profile of its own, and nothing of it is shown", async () => {
  const server = await startModelServer({ limitTokens: 100_000, fault: refuseOld });
  ended.push(() => server.close());
  const command = [process.execPath, "-p", "'sesame-of-the-command'"];
  const varve = await openVarve({
    home,
    config: {
      search: { embedder: "none" },
      turn: { debounceMs: 0 },
      models: {
        chat: "anthropic/m",
        windows: { "anthropic/m": 64_000 },
        auth: { ...login("anthropic"), spare: { provider: "anthropic", command } },
        providers: { anthropic: { baseUrl: `${server.url}/v1` } },
      },
    },
  });
  ended.push(() => varve.close());
  const talk = (text: string) => varve.turns.send({ session: "agent:main:main", text });
  expect(await talk("hello")).toMatchObject({ status: "replied" });
  revoke();
  expect(await talk("again")).toMatchObject({ status: "replied" });
  expect(server.seen.map(({ status }) => status)).toEqual([200, 401, 200]);
  const session = await varve.sessions.get("agent:main:main");
  await varve.sessions.update(session, { authProfileOverride: "spare" });
  expect(await talk("with my key")).toMatchObject({ status: "failed" });
  expect(server.seen.at(-1)?.headers["x-api-key"]).toBe("sesame-of-the-command");
  expect(server.seen.at(-1)?.headers.authorization).toBeUndefined();
  await varve.sessions.update(await varve.sessions.get("agent:main:main"), { authProfileOverride: "nobody" });
  expect(await talk("and this")).toMatchObject({ status: "failed" });
  const history = await varve.transcripts.read(session);
  const all = JSON.stringify([await varve.status(), listConfig(varve.settings), history]);
  expect(all).toContain("There is no auth profile nobody");
  expect(all).not.toContain("sesame");
});

test("the proxy shows them in place of its clients' gateway tokens", async () => {
  const stage = await setProxyStage({
    server: { limitTokens: 50_000, fault: refuseOld },
    gateway: { tokens: [{ name: "worker", token: sha256("worker"), rights: ["read", "write"] }] },
    models: { auth: { ...login("anthropic"), fixed: { provider: "openai", apiKey: "sk-own" } } },
    options: { host: "0.0.0.0" },
  });
  ended.push(() => stage.end());
  const body = JSON.stringify({ model: "m", max_tokens: 10, messages: [{ role: "user", content: "hello" }] });
  const headers = { "content-type": "application/json", "x-api-key": "worker" };
  const ask = async (path = "messages") =>
    (await fetch(`${stage.anthropic}/v1/${path}`, { method: "POST", headers, body })).status;
  expect(await ask()).toBe(200);
  revoke();
  expect([await ask(), await ask("messages/count_tokens")]).toEqual([200, 200]);
  expect(stage.server.seen.map(({ status }) => status)).toEqual([200, 401, 200, 200]);
  revoke();
  expect(await ask(), "what replaced a refused one is not replaced at once").toBe(401);
  const chat = { method: "POST", headers: { ...headers, authorization: "Bearer worker" }, body };
  await fetch(`${stage.openai}/chat/completions`, chat);
  expect(stage.server.seen.at(-1)?.headers).toMatchObject({ authorization: "Bearer sk-own" });
  expect(JSON.stringify(stage.log)).not.toMatch(/sesame|sk-own/);
});
