import { execFile } from "node:child_process";
import { createServer, request } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Varve } from "../../src/index.ts";
import { type Stage, setStage, sha256 } from "./gateway-stage.ts";
import { call, fill, recallAll, refuseAll, settings } from "./mcp-stage.ts";

const require = createRequire(import.meta.url);
let stage: Stage;
/** Signals of the searches for this pattern, which wait until they are cancelled. */
const waiting: { started: () => void; cancelled: () => void }[] = [];

const slow = (varve: Varve): Varve => ({
  ...varve,
  context: {
    ...varve.context,
    async grep(asked) {
      if (asked.pattern !== "wait") return varve.context.grep(asked);
      const one = waiting.shift();
      one?.started();
      await new Promise<void>((resolve) => asked.signal?.addEventListener("abort", () => resolve()));
      one?.cancelled();
      throw asked.signal?.reason;
    },
  },
});

beforeAll(async () => {
  const token = (name: string, rights: ("read" | "write" | "admin")[], agent?: string) => ({
    name,
    token: sha256(name),
    rights,
    ...(agent === undefined ? {} : { agent }),
  });
  stage = await setStage(
    {
      requestsPerMinute: 100_000,
      bodyLimitBytes: 4096,
      tokens: [
        token("reader", ["read"]),
        token("writer", ["write"]),
        token("host", ["read", "write"]),
        token("foreign", ["read"], "other"),
      ],
    },
    { wrap: slow },
  );
  await fill(stage.varve, "agent:main:main", "ZX-4711");
  await fill(stage.varve, "agent:other:main", "FF-9999");
});
afterAll(() => stage.end());

async function connect(
  token: string | undefined,
  mode: (typeof settings)[number] = "legacy",
  headers: Record<string, string> = {},
): Promise<Client> {
  const client = new Client({ name: "varve-test", version: "1.0.0" }, { versionNegotiation: { mode } });
  const authorization: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const requestInit = { headers: { ...authorization, ...headers } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${stage.gateway.url}/mcp`), { requestInit }));
  return client;
}

describe.each(settings)("/mcp with a client that speaks %s", (mode) => {
  test("lists its tools and recalls, with a token that may only read", async () => {
    const client = await connect("reader", mode);
    expect(client.getProtocolEra()).toBe(mode === "auto" ? "modern" : "legacy");
    const { tools } = await client.listTools();
    expect(tools).toHaveLength(11);
    expect(tools.every((tool) => tool.annotations?.readOnlyHint)).toBe(true);
    expect(await call(client, "memory_store", { text: "The vault is open." })).toMatchObject({ isError: true });
    await recallAll(client, "ZX-4711");
    await client.close();
  });

  test("answers bad input with what to send instead", async () => {
    const client = await connect("reader", mode);
    await refuseAll(client);
    await client.close();
  });

  test("shows a token of another agent only that agent", async () => {
    const client = await connect("foreign", mode);
    const found = await call(client, "lcm_grep", {
      pattern: "vault code is",
      scope: "messages",
      allConversations: true,
    });
    expect(found.structured.matches).toMatchObject([{ snippet: "The vault code is FF-9999." }]);
    const { structured } = await call(client, "session_list", {});
    expect(structured.sessions).toMatchObject([{ key: "agent:other:main" }]);
    for (const [tool, input] of [
      ["session_list", { agent: "main" }],
      ["session_status", { key: "agent:main:main" }],
      ["lcm_grep", { pattern: "x", conversationId: "agent:main:main" }],
    ] as const) {
      const answer = await call(client, tool, input);
      expect(answer.isError, tool).toBe(true);
      expect(answer.text).not.toContain("ZX-4711");
    }
    await client.close();
  });

  test("is used in the session a header names, within what the token may see", async () => {
    const client = await connect("reader", mode, { "x-varve-session": "agent:main:main" });
    expect((await client.listTools()).tools.map((tool) => tool.name)).not.toContain("lcm_expand");
    expect((await call(client, "session_status", {})).structured.session).toMatchObject({ key: "agent:main:main" });
    await client.close();
    const foreign = await connect("foreign", mode, { "x-varve-session": "agent:main:main" });
    expect(await call(foreign, "lcm_grep", { pattern: "vault" })).toMatchObject({ isError: true });
    await foreign.close();
    const delegated = await connect("reader", mode, { "x-varve-grant": "grant_x" });
    expect((await delegated.listTools()).tools).toHaveLength(3);
    expect((await call(delegated, "lcm_grep", { pattern: "vault" })).text).toContain("There is no grant");
    await delegated.close();
  });

  test("serves a sub-agent under a grant that its host made, until the host ends it", async () => {
    const body = { session: "agent:main:main", tokenCap: 4_000, ttlMs: 600_000 };
    expect(await stage.send("POST", "/api/grants", { token: "reader", body })).toMatchObject({ status: 403 });
    expect(await stage.send("POST", "/api/grants", { token: "foreign", body })).toMatchObject({ status: 403 });
    const bad = { ...body, session: "agent:main:nobody" };
    expect(await stage.send("POST", "/api/grants", { token: "host", body: bad })).toMatchObject({ status: 404 });
    const made = await stage.send("POST", "/api/grants", { token: "host", body });
    expect(made).toMatchObject({ status: 200, json: { state: "active", originKey: "agent:main:main" } });
    const { id } = made.json as { id: string };
    const reader = await connect("reader", mode, { "x-varve-grant": id });
    expect((await call(reader, "lcm_grep", { pattern: "vault" })).text).toContain("ZX-4711");
    const listed = await stage.send("GET", "/api/grants?state=active", { token: "reader" });
    expect(listed.json).toMatchObject({ grants: expect.arrayContaining([expect.objectContaining({ id, reads: 1 })]) });
    await stage.send("POST", `/api/grants/${id}/revoke`, { token: "host" });
    expect((await call(reader, "lcm_grep", { pattern: "vault" })).text).toContain("it is revoked");
    await reader.close();
  });
});

describe("/mcp", () => {
  test("stops a search when the client gives up", async () => {
    const client = await connect("reader", "auto");
    const started = Promise.withResolvers<void>();
    const cancelled = Promise.withResolvers<void>();
    waiting.push({ started: started.resolve, cancelled: cancelled.resolve });
    const controller = new AbortController();
    const asked = client.callTool({ name: "lcm_grep", arguments: { pattern: "wait" } }, { signal: controller.signal });
    await started.promise;
    controller.abort();
    await expect(asked).rejects.toThrow();
    await cancelled.promise;
    expect((await call(client, "lcm_grep", { pattern: "ZX-4711" })).isError).toBe(false);
    await client.close();
  });

  test("is closed without the right token, from elsewhere, and to what is too large", async () => {
    const body = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const send = (sent: object) => stage.send("POST", "/mcp", { body, ...sent });
    expect(await send({})).toMatchObject({ status: 401, headers: { "www-authenticate": expect.any(String) } });
    expect(await send({ token: "nobody's" })).toMatchObject({ status: 401 });
    expect(await send({ token: "writer" })).toMatchObject({ status: 403 });
    expect(await send({ token: "reader", headers: { host: "rebound.example" } })).toMatchObject({ status: 403 });
    expect(await send({ token: "reader", headers: { origin: "https://evil.example" } })).toMatchObject({ status: 403 });
    expect(await send({ token: "reader", body: "x".repeat(5000) })).toMatchObject({ status: 413 });
    const both = { "x-varve-session": "agent:main:main", "x-varve-grant": "grant_x" };
    expect(await send({ token: "reader", headers: both })).toMatchObject({ status: 400 });
    expect(await stage.send("GET", "/mcp", {})).toMatchObject({ status: 401 });
    expect(await stage.send("GET", "/mcp", { token: "reader" })).toMatchObject({
      status: 405,
      headers: { allow: "POST" },
    });
    const accept = "application/json, text/event-stream";
    const good = await send({ token: "reader", headers: { accept } });
    expect(good).toMatchObject({ status: 200, headers: { "x-content-type-options": "nosniff" } });
    await expect(connect(undefined)).rejects.toThrow();
  });

  test("passes the scenarios of the official conformance tool that are not about a server made for it", async () => {
    const proxy = createServer((incoming, outgoing) => {
      const own = (value: string) =>
        value.replace(`:${(proxy.address() as AddressInfo).port}`, `:${stage.gateway.port}`);
      const { host = "", origin, ...rest } = incoming.headers;
      // The tool sends no token; this adds one and changes nothing else.
      const headers = { ...rest, host: own(host), authorization: "Bearer reader" };
      const passed = request(
        {
          host: "127.0.0.1",
          port: stage.gateway.port,
          path: incoming.url,
          method: incoming.method,
          headers: origin === undefined ? headers : { ...headers, origin: own(origin) },
        },
        (answer) => {
          outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(outgoing);
        },
      );
      passed.on("error", () => outgoing.destroy());
      incoming.pipe(passed);
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`;
    for (const scenario of ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"]) {
      const { code, output } = await conformance(["server", "--url", url, "--scenario", scenario]);
      expect(output, scenario).toMatch(/Passed: (\d+)\/\1, 0 failed, 0 warnings/);
      expect(code, scenario).toBe(0);
    }
    proxy.close();
    proxy.closeAllConnections();
  });
});

function conformance(args: string[]): Promise<{ code: number; output: string }> {
  const tool = require.resolve("@modelcontextprotocol/conformance/dist/index.js");
  return new Promise((resolve) => {
    execFile(process.execPath, [tool, ...args], { env: { ...process.env, NO_COLOR: "1" } }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, output: stdout + stderr }),
    );
  });
}
