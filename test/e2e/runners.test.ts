/** What answers a turn: models over their own wire formats, the real Claude Code, any program, and memory alone. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { ConfigInput } from "../../src/config/index.ts";
import { openVarve, type Varve } from "../../src/index.ts";
import type { Json } from "../support/model-server/dialect.ts";
import { type ModelServer, type ModelServerOptions, startModelServer } from "../support/model-server/server.ts";

const session = "agent:main:runners:direct:ann";
const ended: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

async function open(config: ConfigInput): Promise<{ varve: Varve; home: string }> {
  const home = mkdtempSync(join(tmpdir(), "varve-runners-"));
  const varve = await openVarve({
    home,
    config: { search: { embedder: "none" }, ...config, turn: { debounceMs: 0, ...config.turn } },
  });
  ended.push(async () => {
    await varve.close();
    rmSync(home, { recursive: true, force: true });
  });
  return { varve, home };
}

async function serve(options: Partial<ModelServerOptions>): Promise<ModelServer> {
  const server = await startModelServer({ limitTokens: 200_000, ...options });
  ended.push(() => server.close());
  return server;
}

const talk = (varve: Varve, text: string) => varve.turns.send({ session, text, owner: true });

describe.each([
  { kind: "anthropic" as const, path: "/v1" },
  { kind: "openai" as const, path: "/v1" },
])("ai-sdk by $kind", ({ kind, path }) => {
  test("uses tools, keeps what was thought, and goes on from it in the next turn", async () => {
    const server = await serve({
      say: (body) => {
        const last = JSON.stringify((body.messages as Json[]).at(-1));
        const isResult = last.includes("tool_result") || last.includes('"role":"tool"');
        if (isResult) return { text: "It is green." };
        if (!last.includes("bicycle")) return { text: "As I said." };
        return {
          ...(kind === "anthropic" ? { thinking: "Let me look." } : {}),
          calls: [{ id: "call_1", name: "memory_recall", input: { query: "bicycle" } }],
        };
      },
    });
    const { varve } = await open({
      models: {
        chat: "local/model",
        windows: { "local/model": 64_000 },
        providers: { local: { kind, baseUrl: server.url + path, apiKey: "sk-test" } },
      },
    });
    await varve.memory.add({ text: "My bicycle is green.", agent: "main" });
    expect(await talk(varve, "What colour is my bicycle?")).toMatchObject({ status: "replied", reply: "It is green." });
    expect(await talk(varve, "Sure?")).toMatchObject({ status: "replied", reply: "As I said." });
    const sent = (server.seen.at(-1)?.body.messages ?? []) as Json[];
    const roles = sent.map((message) => message.role);
    expect(roles.filter((role) => role === "assistant")).toHaveLength(2);
    // What a provider signed goes back to it as it came.
    if (kind === "anthropic") expect(JSON.stringify(server.seen.at(-1)?.body.messages)).toMatch(/"signature":"[^"]+"/);
  });
});

describe("command", () => {
  const node = process.execPath;
  const runner = (script: string, more: ConfigInput["turn"] = {}) =>
    open({ turn: { runner: "command", command: { program: node, args: ["-e", script] }, ...more } });

  test("reads the prompt with the history from standard input and writes the reply", async () => {
    const { varve } = await runner(
      'let text=""; process.stdin.on("data", (d) => text += d).on("end", () => console.log("LINES " + text.trim().split("\\n").slice(-1)[0] + " / " + /Conversation so far/.test(text)))',
    );
    expect(await talk(varve, "first")).toMatchObject({
      status: "replied",
      reply: "LINES first / false",
      runner: "command",
    });
    expect(await talk(varve, "second")).toMatchObject({ reply: "LINES second / true" });
  });

  test("a program that fails, says nothing, is missing or hangs is told of, and the message stays", async () => {
    const failing = await runner(
      'process.stdin.resume(); console.error("no licence sk-ant-api03-0123456789012345678901234567890123456789"); process.exit(3)',
    );
    const failed = await talk(failing.varve, "hi");
    expect(failed).toMatchObject({ status: "failed", error: { code: "MODEL_FAILED" } });
    expect(failed.error?.message).toMatch(/ended with 3.*no licence/s);
    expect(failed.error?.message).not.toContain("sk-ant-api03-0123");
    const silent = await runner("process.stdin.resume()");
    expect((await talk(silent.varve, "hi")).error?.message).toContain("wrote nothing");
    const missing = await open({ turn: { runner: "command", command: { program: "no-such-program-at-all" } } });
    expect(await talk(missing.varve, "hi")).toMatchObject({ status: "failed", error: { code: "BAD_CONFIG" } });
    const unnamed = await open({ turn: { runner: "command" } });
    expect(await talk(unnamed.varve, "hi")).toMatchObject({
      error: { remedy: expect.stringContaining("turn.command.program") },
    });
    const hanging = await runner("setInterval(() => {}, 1000)", { timeoutMs: 1_000 });
    expect(await talk(hanging.varve, "hi")).toMatchObject({ status: "failed", error: { code: "MODEL_TIMEOUT" } });
  });
});

describe("offline", () => {
  test("answers with memories and passages, cites them, and never quotes its own earlier replies", async () => {
    const { varve } = await open({ turn: { runner: "offline" } });
    const other = await varve.sessions.resolve({ key: "agent:main:old:direct:bob", owner: true });
    await varve.context.ingest(other, [{ role: "user", content: "The staging server moved to rack 14." }]);
    const first = await talk(varve, "Where did the staging server move?");
    expect(first.reply).toMatch(/rack 14.*\[msg#\d+\]/);
    expect(first.reply).toContain("No model was asked");
    const again = await talk(varve, "Where did the staging server move?");
    expect(again.reply).toBe(first.reply);
    const stated = await talk(varve, "I live in Ghent and the staging server is loud.");
    expect(stated.reply).toContain("Noted:\n- I live in Ghent");
    expect(stated.reply).not.toContain("rack 14");
    expect((await talk(varve, "Qzxv plomf?")).reply).toContain("Nothing here answers that.");
  });
});

describe.runIf(process.env.VARVE_TEST_CLAUDE)("claude-cli with the real Claude Code", () => {
  test("answers with the memory's tools at hand", async () => {
    const server = await serve({
      say: (body) => {
        const tools = ((body.tools ?? []) as Json[]).map((tool) => String(tool.name));
        const said = JSON.stringify(body.messages);
        if (said.includes("tool_result"))
          return { text: said.includes("rack 14") ? "It is in rack 14." : "Nothing was found." };
        // Claude Code may keep tools of servers back until they are looked for; they can be called all the same.
        if (!tools.some((name) => name === "mcp__varve__lcm_grep" || name === "ToolSearch"))
          return { text: "There are no tools of Varve." };
        return {
          calls: [
            { id: "toolu_1", name: "mcp__varve__lcm_grep", input: { pattern: "staging", allConversations: true } },
          ],
        };
      },
    });
    const { varve, home } = await open({
      turn: { runner: "claude-cli", claude: { program: process.env.VARVE_TEST_CLAUDE ?? "" } },
    });
    const before = { ...process.env };
    Object.assign(process.env, {
      CLAUDE_CONFIG_DIR: join(home, "claude"),
      ANTHROPIC_BASE_URL: server.url,
      ANTHROPIC_API_KEY: "sk-test",
      IS_SANDBOX: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    });
    try {
      const other = await varve.sessions.resolve({ key: "agent:main:old:direct:bob", owner: true });
      await varve.context.ingest(other, [{ role: "user", content: "The staging server moved to rack 14." }]);
      const result = await talk(varve, "Where is the staging server?");
      expect(result.error).toBeUndefined();
      expect(result).toMatchObject({ status: "replied", reply: "It is in rack 14.", runner: "claude-cli" });
    } finally {
      for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
      Object.assign(process.env, before);
    }
  });
});
