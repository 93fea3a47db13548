import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openVarve, version } from "../../src/index.ts";
import { call, fill, recallAll, refuseAll, settings } from "./mcp-stage.ts";

const program = fileURLToPath(new URL("../../bin/varve.js", import.meta.url));
const home = mkdtempSync(join(tmpdir(), "varve-mcp-"));
const environment = { PATH: process.env.PATH ?? "", VARVE_HOME: home };

beforeAll(async () => {
  const varve = await openVarve({ home, background: false });
  await fill(varve, "agent:main:main", "ZX-4711");
  await fill(varve, "agent:main:second", "QQ-2222");
  await varve.close();
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

async function withClient(
  args: string[],
  mode: (typeof settings)[number],
  work: (client: Client) => Promise<void>,
): Promise<void> {
  const client = new Client({ name: "varve-test", version: "1.0.0" }, { versionNegotiation: { mode } });
  const command = { command: process.execPath, args: [program, "mcp", ...args], env: environment, stderr: "pipe" };
  const transport = new StdioClientTransport(command as ConstructorParameters<typeof StdioClientTransport>[0]);
  let said = "";
  transport.stderr?.on("data", (chunk) => {
    said += chunk;
  });
  await client.connect(transport);
  try {
    await work(client);
  } finally {
    await client.close();
  }
  expect(said).toBe("");
}

/** The program with some lines as its input, which then ends. */
async function piped(lines: object[], args: string[] = []): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [program, "mcp", ...args], { env: environment });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  child.stdin.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const [code] = await once(child, "close");
  return { code: Number(code), stdout, stderr };
}

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "pipe", version: "1" } },
};
const ask = (id: number, name: string, input: object) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: input },
});

describe.each(settings)("varve mcp with a client that speaks %s", (mode) => {
  test("introduces itself, lists its tools, and recalls", () =>
    withClient([], mode, async (client) => {
      expect(client.getServerVersion()).toMatchObject({ name: "varve", version });
      expect(client.getInstructions()).toContain("lcm_grep");
      expect(client.getProtocolEra()).toBe(mode === "auto" ? "modern" : "legacy");
      const { tools } = await client.listTools();
      expect(tools.map((tool) => tool.name)).toEqual([
        "lcm_grep",
        "lcm_describe",
        "lcm_expand",
        "lcm_expand_query",
        "memory_search",
        "memory_get",
        "memory_recall",
        "memory_store",
        "memory_update",
        "memory_forget",
        "memory_list",
        "memory_stats",
        "session_list",
        "session_status",
      ]);
      for (const tool of tools) {
        const readOnlyHint = !/_(?:store|update|forget)$/.test(tool.name);
        expect(tool).toMatchObject({ annotations: { readOnlyHint }, outputSchema: {} });
      }
      await recallAll(client, "ZX-4711");
    }));

  test("answers bad input with what to send instead", () => withClient([], mode, refuseAll));

  test("goes on after a call was cancelled", () =>
    withClient([], mode, async (client) => {
      const signal = AbortSignal.abort("the user pressed Escape");
      const cancelled = client.callTool({ name: "lcm_grep", arguments: { pattern: "x" } }, { signal });
      await expect(cancelled).rejects.toThrow();
      const controller = new AbortController();
      const late = client.callTool({ name: "lcm_grep", arguments: { pattern: "q.*z" } }, { signal: controller.signal });
      controller.abort("changed my mind");
      await expect(late).rejects.toThrow();
      expect((await call(client, "lcm_grep", { pattern: "ZX-4711" })).isError).toBe(false);
    }));
});

describe("varve mcp in a session", () => {
  test("means its own conversation, and does not offer lcm_expand", () =>
    withClient(["--session", "agent:main:second"], "legacy", async (client) => {
      const { tools } = await client.listTools();
      expect(tools.map((tool) => tool.name)).not.toContain("lcm_expand");
      const own = await call(client, "lcm_grep", { pattern: "vault code is", scope: "messages" });
      expect(own.structured.matches).toMatchObject([{ snippet: "The vault code is QQ-2222." }]);
      expect(await call(client, "lcm_expand", { query: "vault" })).toMatchObject({
        isError: true,
        text: expect.stringContaining("lcm_expand_query"),
      });
      expect((await call(client, "session_status", {})).structured.session).toMatchObject({ key: "agent:main:second" });
    }));
});

describe("varve mcp for a person", () => {
  test("reaches what is theirs, also what they say while it runs", async () => {
    const varve = await openVarve({ home, background: false });
    const say = async (peer: string, thread: string, content: string) => {
      const address = { channel: "app", peer, thread: { type: "thread" as const, id: thread } };
      await varve.context.ingest(await varve.sessions.resolve(address), [{ role: "user", content }]);
    };
    await say("ann", "1", "My locker is number LOCK-12.");
    await withClient(["--channel=app", "--peer=bob"], "legacy", async (client) => {
      for (const [name, input] of [
        ["lcm_grep", { pattern: "LOCK|QQ|vault", allConversations: true }],
        ["memory_search", { query: "locker number vault code" }],
        ["session_list", {}],
      ] as const) {
        expect((await call(client, name, input)).text).not.toMatch(/LOCK-12|QQ-2222|ZX-4711|agent:main:/);
      }
      await say("bob", "2", "My locker is number LOCK-34.");
      const found = await call(client, "lcm_grep", { pattern: "LOCK", allConversations: true });
      expect(found.text).toContain("LOCK-34");
      expect(found.text).not.toContain("LOCK-12");
      const kept = await call(client, "memory_store", { text: "Bob's locker is LOCK-34." });
      expect(kept.isError).toBe(false);
    });
    expect((await varve.memory.list({ scopes: ["user:app:bob"] })).memories).toHaveLength(1);
    await varve.close();
  });

  test("does not start for a person without an id", async () => {
    for (const args of [["--channel=app"], ["--channel=app", "--peer="], ["--peer=ann"]]) {
      const ran = await piped([initialize], args);
      expect(ran).toMatchObject({ stdout: "", stderr: expect.stringContaining("missing or empty") });
      expect(ran.code).not.toBe(0);
    }
  });
});

describe("varve mcp as a process", () => {
  test("answers what was asked before its input ended, and nothing but the protocol is on its output", async () => {
    const ran = await piped([initialize, ask(2, "lcm_grep", { pattern: "vault" }), ask(3, "session_list", {})]);
    const answers = ran.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { id: number; result: object });
    expect(answers.map((answer) => answer.id).sort()).toEqual([1, 2, 3]);
    expect(ran).toMatchObject({ code: 0, stderr: "" });
  });

  test("ends with its input, and on a signal", async () => {
    expect(await piped([])).toEqual({ code: 0, stdout: "", stderr: "" });
    const child = spawn(process.execPath, [program, "mcp"], { env: environment });
    child.stdin.write(`${JSON.stringify(initialize)}\n`);
    await once(child.stdout, "data");
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  test("outlives a line that is not JSON", async () => {
    const child = spawn(process.execPath, [program, "mcp"], { env: environment });
    child.stdin.write(`this is no JSON\n${JSON.stringify(initialize)}\n`);
    const [answer] = (await once(child.stdout, "data")) as [Buffer];
    expect(JSON.parse(answer.toString())).toMatchObject({ id: 1, result: { serverInfo: { name: "varve" } } });
    child.stdin.end();
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  test("does not start with a grant that is not there, or with a grant and a session", async () => {
    expect(await piped([], ["--grant", "grant_x"])).toMatchObject({ code: 4, stdout: "" });
    expect(await piped([], ["--grant", "grant_x", "--session", "agent:main:main"])).toMatchObject({ code: 2 });
  });

  test("starts for a session that is not there yet, and says so", async () => {
    const ran = await piped([initialize, ask(2, "session_status", {})], ["--session", "agent:main:later"]);
    expect(ran.stderr).toContain("agent:main:later");
    expect(ran.stdout).toContain("SESSION_NOT_FOUND");
    expect(ran.code).toBe(0);
  });
});
