/** Summaries written by the real Claude Code and the real Codex, with a model of the test's own behind them. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/index.ts";
import { openConfiguredModel } from "../../src/models/index.ts";
import { type MessagesServer, startMessagesServer, textOfMessages } from "../support/messages-server.ts";
import type { Fault } from "../support/model-server/dialect.ts";
import { startModelServer } from "../support/model-server/server.ts";
import { type ClaudeStage, setClaudeStage } from "./claude-code-stage.ts";

/** Absent only when `VARVE_TEST_SKIP` asked for it, or the test is run without `npm test`. */
const claude = process.env.VARVE_TEST_CLAUDE;
const codex = process.env.VARVE_TEST_CODEX;

const topic = "the roses in the garden need water and the gardener asks when to cut them";
const summary =
  "On that day the user and the gardener talked about the roses in the garden: they need water, and the user asks when to cut them. It was agreed to water the garden in the evening.\nFiles: none\nExpand for details about: the roses, the watering";
const request = { purpose: "summary" as const, system: "You summarise.", temperature: 0, maxTokens: 1_000 };
const ended: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

/** A conversation that mentions a file as Claude Code's users do. */
function writeConversation(file: string, mentioned: string): void {
  const lines = Array.from({ length: 60 }, (_, index) =>
    JSON.stringify({ role: index % 2 ? "assistant" : "user", content: `${`${topic}, `.repeat(3)} @${mentioned}` }),
  );
  writeFileSync(file, `${lines.join("\n")}\n`);
}

describe.skipIf(claude === undefined)("Claude Code as the model of summaries", () => {
  let server: MessagesServer;
  let stage: ClaudeStage;

  async function start(viaProxy: boolean): Promise<string> {
    server = await startMessagesServer((body) => {
      // A summary has to name what its sources name.
      const [mentioned] = /@\/\S+?secret\.txt/.exec(textOfMessages(body)) ?? [];
      return mentioned === undefined ? "Noted." : summary.replace("none", mentioned);
    });
    ended.push(() => server.close());
    stage = setClaudeStage(claude ?? "", server.url);
    ended.push(() => stage.end());
    expect((await stage.varve("setup", "claude-code", "--yes")).code).toBe(0);
    const settings = [
      ["models.summary", "claude-cli"],
      ["turn.claude.program", claude ?? ""],
      ["context.freshTailCount", "6"],
      ["context.summaryTimeoutMs", "600000"],
      ["search.embedder", "none"],
    ];
    for (const [key = "", value = ""] of settings) {
      expect((await stage.varve("config", "set", key, value)).code).toBe(0);
    }
    if (viaProxy) {
      expect((await stage.varve("config", "set", "proxy.anthropic.baseUrl", server.url)).code).toBe(0);
      const url = await stage.startGateway();
      writeFileSync(
        join(stage.config, "settings.json"),
        JSON.stringify({ env: { ANTHROPIC_BASE_URL: `${url}/proxy/anthropic` } }),
      );
    }
    const secret = join(stage.project, "secret.txt");
    writeFileSync(secret, "the combination of the safe is 7-24-61");
    const file = join(stage.project, "roses.jsonl");
    writeConversation(file, secret);
    expect((await stage.varve("import", file, "--source", "jsonl")).code).toBe(0);
    const { sessions } = JSON.parse((await stage.varve("sessions", "list", "--json")).stdout) as {
      sessions: { key: string }[];
    };
    expect(sessions).toHaveLength(1);
    return sessions[0]?.key ?? "";
  }

  test.each([false, true])(
    "writes it, and neither hooks nor a transcript nor the proxy (%s) record that as a conversation",
    async (viaProxy) => {
      const key = await start(viaProxy);
      const ran = await stage.varve("context", "compact", key, "--json");
      expect([ran.code, ran.stderr]).toEqual([0, expect.anything()]);
      const shown = await stage.varve("context", "show", key, "--json");
      expect(shown.stdout).toContain('"claude-cli"');
      expect(shown.stdout).toContain("water the garden in the evening");

      expect(server.requests.length).toBeGreaterThan(0);
      for (const sent of server.requests) {
        expect(sent.tools ?? []).toEqual([]);
        expect(JSON.stringify(sent.system)).toContain("You compress parts of a conversation");
        // A file that the conversation mentions is not read.
        expect(JSON.stringify(sent)).toContain("secret.txt");
        expect(JSON.stringify(sent)).not.toContain("7-24-61");
        expect(JSON.stringify(sent)).not.toContain("<varve trust");
      }
      const sessions = await stage.varve("sessions", "list", "--json");
      expect((JSON.parse(sessions.stdout) as { sessions: unknown[] }).sessions).toHaveLength(1);
      const projects = join(stage.config, "projects");
      expect(existsSync(projects) ? readdirSync(projects) : []).toEqual([]);
      expect(existsSync(join(stage.home, "logs", "hook.log"))).toBe(false);

      // The same Claude Code records what a person says.
      await stage.prompt("The vault of the harbour team is called Heron.");
      expect(readdirSync(projects)).not.toEqual([]);
    },
  );
});

describe.skipIf(codex === undefined)("Codex as a model", () => {
  async function start(fault?: Fault) {
    const server = await startModelServer({
      limitTokens: 200_000,
      say: () => ({ text: summary }),
      fault: () => fault,
    });
    const folder = mkdtempSync(join(tmpdir(), "varve-codex-"));
    ended.push(
      () => server.close(),
      () => rmSync(folder, { recursive: true, force: true }),
    );
    const codexHome = join(folder, "codex");
    mkdirSync(codexHome);
    const marker = join(folder, "started");
    const mcpServer = `command = ${JSON.stringify(process.execPath)}\nargs = ["-e", ${JSON.stringify(`require("fs").writeFileSync(${JSON.stringify(marker)}, "")`)}]\n`;
    writeFileSync(join(codexHome, "config.toml"), `[mcp_servers.varve]\n${mcpServer}`);
    const provider = `model_providers.local={name="local",base_url="${server.url}/v1",env_key="LAB_KEY",wire_api="responses",request_max_retries=0,stream_max_retries=0}`;
    const { config } = loadConfig({
      home: folder,
      env: {},
      overrides: {
        models: {
          summary: "codex-cli",
          codexCli: { program: codex ?? "", args: ["-c", provider, "-c", 'model_provider="local"'] },
        },
      },
    });
    const env = { PATH: process.env.PATH, HOME: folder, CODEX_HOME: codexHome, LAB_KEY: "sk-lab" };
    const generate = openConfiguredModel(config.models, "summary", { home: folder, env });
    if (generate === undefined) throw new Error("there is no model");
    return { server, codexHome, marker, generate };
  }

  test("answers without MCP servers, without a shell, and saves no session", async () => {
    const { server, codexHome, marker, generate } = await start();
    const answer = await generate({ ...request, user: topic });
    expect(answer).toMatchObject({ text: summary, model: "codex-cli", usage: { inputTokens: expect.any(Number) } });
    const sent = JSON.stringify(server.seen.filter(({ path }) => path.endsWith("/responses")).map(({ body }) => body));
    expect(sent).toContain(topic);
    expect(sent).toContain(request.system);
    expect(sent).not.toMatch(/"name":"(?:shell|shell_command|exec_command|local_shell)"|tools: \{ exec_command/);
    expect(existsSync(marker)).toBe(false);
    expect(existsSync(join(codexHome, "sessions"))).toBe(false);
  });

  test.each([
    ["a refused key", 401, { message: "Incorrect API key provided" }, "MODEL_KEY_REFUSED"],
    [
      "a usage limit",
      429,
      { type: "usage_limit_reached", message: "The usage limit has been reached" },
      "MODEL_PAUSED",
    ],
  ])("tells %s", async (_, status, error, code) => {
    const { generate } = await start({ kind: "status", status, body: JSON.stringify({ error }) });
    await expect(generate({ ...request, user: topic })).rejects.toMatchObject({ code });
  });
});
