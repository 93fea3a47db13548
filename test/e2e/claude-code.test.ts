/** The real Claude Code with the plugin in it, and a model of the test's own behind it. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openVarve } from "../../src/index.ts";
import { checkBudgets, listBudgets } from "../support/check-views.ts";
import { type MessagesServer, startMessagesServer, textOfMessages } from "../support/messages-server.ts";
import { type ClaudeStage, setClaudeStage } from "./claude-code-stage.ts";

/** Absent only when `VARVE_TEST_SKIP=claude` asked for it, or the test is run without `npm test`. */
const claude = process.env.VARVE_TEST_CLAUDE;
const summaryMark = "OTTERMARK";
const tool = "mcp__plugin_varve_varve__lcm_grep";
const pattern = "called H[a-z]+n and";
let server: MessagesServer;
let stage: ClaudeStage;

beforeAll(async () => {
  server = await startMessagesServer((body) => {
    // Claude Code puts what it has to say itself behind what the person said.
    const last = JSON.stringify(body.messages.findLast(({ role }) => role === "user") ?? "");
    if (last.includes("detailed summary")) return `<summary>Small things were asked. ${summaryMark}</summary>`;
    // The model looks something up: it has the tool's schema loaded first, as Claude Code wants it.
    const all = textOfMessages(body);
    if (last.includes("Look it up") && !last.includes("tool_result"))
      return { tool: "ToolSearch", input: { query: `select:${tool}` } };
    if (last.includes("tool_result") && !all.includes(pattern))
      return { tool, input: { pattern, allConversations: true } };
    return "Noted.";
  });
});
afterAll(() => server.close());
afterEach(() => stage.end());

interface Found {
  results: { citation: string; snippet: string; sessionKey: string }[];
}

/** What a search finds once it finds a word: behind the gateway's answer a transcript may still be being read. */
async function searchUntil(query: string, word: string): Promise<Found["results"]> {
  for (;;) {
    const ran = await stage.varve("search", query, "--json");
    expect([ran.code, ran.stderr]).toEqual([0, expect.not.stringContaining("→")]);
    const { results } = JSON.parse(ran.stdout) as Found;
    if (results.some((result) => result.snippet.includes(word))) return results;
    await sleep(200);
  }
}

async function checkStoredSessions(home: string): Promise<void> {
  const varve = await openVarve({ home, background: false, config: { search: { embedder: "none" } } });
  try {
    const { sessions } = await varve.sessions.list({ limit: 20 });
    expect(sessions.length).toBeGreaterThan(1);
    for (const { key } of sessions) {
      const session = await varve.sessions.get(key);
      await checkBudgets(varve, session, listBudgets(40), key);
      await varve.context.compact(session, { budgetTokens: 1_000 });
      await checkBudgets(varve, session, listBudgets(40), `${key}, compacted`);
    }
  } finally {
    await varve.close();
  }
}

/** What the model was sent for the last prompt, as one text. */
function lastRequest(): string {
  const request = server.requests.at(-1);
  return request ? textOfMessages(request) : "";
}

/** On a machine that is busy with other tests a hook may take longer than a person would wait. */
function giveTime(config: string): void {
  const file = join(config, "skills", "varve", "hooks", "hooks.json");
  const text = readFileSync(file, "utf8");
  const patient = text
    .replaceAll(/("command": ".*)"/g, '$1 --deadline 500000"')
    .replaceAll('"timeout": 5', '"timeout": 600');
  expect(patient).toContain("Stop --home");
  writeFileSync(file, patient);
}

describe.skipIf(claude === undefined)("Claude Code with the plugin", () => {
  test("finds nothing wrong with it", async () => {
    stage = setClaudeStage(claude ?? "", server.url);
    for (const folder of ["plugins", "plugins/claude-code"]) {
      const path = fileURLToPath(new URL(`../../${folder}`, import.meta.url));
      const ran = await stage.claude("plugin", "validate", "--strict", path);
      expect([ran.code, ran.stdout]).toEqual([0, expect.stringContaining("Validation passed")]);
    }
    const read = (file: string): { version: string } =>
      JSON.parse(readFileSync(new URL(`../../${file}`, import.meta.url), "utf8")) as { version: string };
    expect(read("plugins/claude-code/.claude-plugin/plugin.json").version).toBe(read("package.json").version);
  });

  for (const gateway of [true, false]) {
    test(`recalls at the prompt, keeps the transcript, and finds history after a compaction, ${gateway ? "with" : "without"} a gateway`, async () => {
      stage = setClaudeStage(claude ?? "", server.url);
      expect((await stage.varve("setup", "claude-code", "--yes")).code).toBe(0);
      giveTime(stage.config);
      if (gateway) await stage.startGateway();

      const first = await stage.prompt("The vault of the harbour team is called Heron and its owner is Mirela.");
      // The transcript was read when Claude Code stopped, to the model's reply.
      const said = await searchUntil("owner of the Heron vault", "Mirela");
      expect(said[0]).toMatchObject({
        snippet: expect.stringContaining("Mirela"),
        sessionKey: expect.stringContaining(first),
      });
      await searchUntil("noted", "Noted.");

      // Another session is told at its prompt.
      const second = await stage.prompt("Who is the owner of the Heron vault?");
      expect(second).not.toBe(first);
      expect(lastRequest()).toMatch(/<varve trust=.{2}untrusted.*Mirela/);
      expect(lastRequest()).toContain("mcp__plugin_varve_varve__");

      // The first one forgets, and is told again.
      const before = server.requests.length;
      await stage.prompt("/compact", first);
      expect(server.requests.length).toBeGreaterThan(before);
      await stage.prompt("What is the vault called that Mirela owns for the harbour team?", first);
      const [outside, block] = lastRequest().split("<varve trust=").slice(0, 2);
      expect(outside).toContain(summaryMark);
      expect(lastRequest()).toContain("continued from a previous conversation");
      expect(lastRequest().replaceAll(/<varve trust=[\s\S]*?<\/varve>/g, "")).not.toContain("Heron");
      expect(block).toBeDefined();
      expect(lastRequest()).toContain("is called Heron and its owner is Mirela");
      await searchUntil(summaryMark, summaryMark);

      // Everything once, whatever hooks ran in between.
      const grep = await stage.varve("grep", "is called Heron and its owner", "--json");
      expect((JSON.parse(grep.stdout) as { matches: unknown[] }).matches).toHaveLength(1);

      // Every view of what it wrote fits its budget and stands for everything, at any budget and for every provider.
      if (!gateway) await checkStoredSessions(stage.home);

      // The tools are there and open the history.
      await stage.prompt("Look it up with the tool.", undefined, ["--allowedTools", tool]);
      expect(lastRequest()).toMatch(/tool_result.*The vault of the harbour team is called Heron/s);
      expect(existsSync(join(stage.home, "logs", "hook.log"))).toBe(false);

      expect((await stage.varve("setup", "claude-code", "--remove", "--yes")).code).toBe(0);
      await stage.prompt("Who is the owner of the Heron vault, once more?");
      expect(lastRequest()).not.toContain("<varve");
      expect((await stage.claude("plugin", "list")).stdout).not.toContain("varve");
    });
  }
});
