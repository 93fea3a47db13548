import { existsSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import type { Environment } from "../../config/index.ts";
import type { GenerateRequest, NamedModel } from "../generate.ts";
import { openProgramModel, parseProgramName } from "./program-model.ts";
import { type ScriptedProgram, writeScriptedProgram } from "./scripted-program.test-util.ts";

const request: GenerateRequest = {
  purpose: "summary",
  system: "You summarise.",
  user: "Ann said hello.",
  temperature: 0,
  maxTokens: 100,
};
const written: ScriptedProgram[] = [];
afterEach(() => {
  for (const one of written.splice(0)) one.remove();
});

function open(name: string, body: string, env: Environment = { PATH: process.env.PATH }) {
  const scripted = writeScriptedProgram(body);
  written.push(scripted);
  const settings = { program: scripted.program, args: ["--extra"], dailyCalls: 50 };
  const programs = { "claude-cli": settings, "codex-cli": settings };
  const named = parseProgramName(name);
  if (named === undefined) throw new Error(`${name} is no program`);
  const model: NamedModel = openProgramModel(name, named, { programs, timeZone: "UTC", env });
  return { model, scripted };
}

describe("the name of a model", () => {
  it("may be an installed program, with a model of its own", () => {
    expect(parseProgramName("claude-cli")).toEqual({ program: "claude-cli" });
    expect(parseProgramName("claude-cli/haiku")).toEqual({ program: "claude-cli", model: "haiku" });
    expect(parseProgramName("codex-cli/a/b")).toEqual({ program: "codex-cli", model: "a/b" });
    expect(parseProgramName("anthropic/claude-cli")).toBeUndefined();
  });
});

describe("Claude Code as a model", () => {
  it("answers in an empty folder, without tools, servers, hooks or a saved session", async () => {
    const env = { PATH: process.env.PATH, CLAUDECODE: "1", ANTHROPIC_CUSTOM_HEADERS: "x-team: harbour" };
    const { model, scripted } = open("claude-cli/haiku", 'answer("She did.");', env);
    expect(model.dailyCap).toEqual({ name: "claude-cli", callsMax: 50, timeZone: "UTC" });
    const usage = { inputTokens: 110, outputTokens: 20 };
    expect(await model.call(request)).toEqual({ text: "She did.", usage });
    const [call] = scripted.readCalls();
    expect(call).toMatchObject({ input: request.user, files: [] });
    expect(call?.args.join(" ")).not.toContain(request.user);
    const pairs = [
      ["--output-format", "json"],
      ["--system-prompt", request.system],
      ["--tools", ""],
      ["--mcp-config", '{"mcpServers":{}}'],
      ["--model", "haiku"],
    ];
    for (const [option = "", value] of pairs) expect(call?.args[(call?.args.indexOf(option) ?? 0) + 1]).toBe(value);
    expect(call?.args).toEqual(
      expect.arrayContaining(["--print", "--strict-mcp-config", "--no-session-persistence", "--extra"]),
    );
    expect(call?.env).toMatchObject({
      VARVE_HOOK: "off",
      CLAUDE_CODE_SAFE_MODE: "1",
      CLAUDE_CODE_DISABLE_ATTACHMENTS: "1",
      ANTHROPIC_CUSTOM_HEADERS: "x-team: harbour\nx-varve-record: off",
    });
    expect(call?.env).not.toHaveProperty("CLAUDECODE");
    expect(existsSync(call?.cwd ?? "")).toBe(false);
  });

  it("never takes a text for one of its commands", async () => {
    const { model, scripted } = open("claude-cli", 'answer("ok");');
    await model.call({ ...request, user: "/compact now" });
    expect(scripted.readCalls()[0]?.input).toBe("Text:\n/compact now");
    expect(scripted.readCalls()[0]?.args).not.toContain("--model");
    const command = open("claude-cli", 'answer("Total cost: 0", { local_command: "cost" });');
    await expect(command.model.call(request)).rejects.toMatchObject({ code: "MODEL_FAILED" });
  });

  const failing = "is_error: true, api_error_status: null }); process.exitCode = 1;";
  it.each([
    [
      "garbage",
      'process.stdout.write("<html>");',
      { code: "MODEL_FAILED", message: expect.stringContaining("<html>") },
    ],
    ["other JSON", 'process.stdout.write("[1]");', { code: "MODEL_FAILED" }],
    ["JSON without a result", "writeLine({ type: 'result' });", { code: "MODEL_FAILED" }],
    ["nothing", "", { code: "MODEL_FAILED" }],
    ["an empty answer", 'answer(" ");', { code: "MODEL_FAILED", details: { retry: true } }],
    ["no login", `answer("Not logged in · Please run /login", { ${failing}`, { code: "MODEL_KEY_REFUSED" }],
    [
      "no login on standard error",
      'console.error("Please run /login"); process.exitCode = 1;',
      { code: "MODEL_KEY_REFUSED" },
    ],
    [
      "a refused key",
      'answer("API Error", { is_error: true, api_error_status: 401 }); process.exitCode = 1;',
      { code: "MODEL_KEY_REFUSED" },
    ],
    [
      "a usage limit with its end",
      `answer("Claude AI usage limit reached|1894895121", { ${failing}`,
      { code: "MODEL_PAUSED", details: { because: "limit", until: 1_894_895_121_000 } },
    ],
    ["a session limit", `answer("You've hit your session limit · resets 3pm", { ${failing}`, { code: "MODEL_PAUSED" }],
    [
      "too many requests",
      'answer("API Error: Request rejected (429)", { is_error: true, api_error_status: 429 }); process.exitCode = 1;',
      { code: "MODEL_FAILED", details: { retry: true } },
    ],
    [
      "an unknown model",
      'answer("There is an issue with the selected model", { is_error: true, api_error_status: 404 }); process.exitCode = 1;',
      { code: "MODEL_FAILED", details: { retry: false } },
    ],
    [
      "an older version",
      "console.error(\"error: unknown option '--tools'\"); process.exitCode = 1;",
      { code: "BAD_CONFIG" },
    ],
  ])("tells %s apart", async (_, body, error) => {
    const { model, scripted } = open("claude-cli", body);
    await expect(model.call(request)).rejects.toMatchObject(error);
    expect(existsSync(scripted.readCalls()[0]?.cwd ?? "")).toBe(false);
  });

  it("that is missing says how to install it, and quotes no secret when it fails", async () => {
    const settings = { program: "no-such-program-at-all", args: [], dailyCalls: 1 };
    const programs = { "claude-cli": settings, "codex-cli": settings };
    const sources = { programs, timeZone: "UTC", env: process.env };
    for (const program of ["claude-cli", "codex-cli"] as const) {
      await expect(openProgramModel(program, { program }, sources).call(request)).rejects.toMatchObject({
        code: "BAD_CONFIG",
        remedy: expect.stringMatching(/npm install -g .*models\.(?:claude|codex)Cli\.program.*another model/),
      });
    }
    const key = `sk-ant-api03-${"a1".repeat(30)}`;
    const { model } = open("claude-cli", `console.error("bad ${key}"); process.exitCode = 1;`);
    const error = await model.call(request).catch((one: unknown) => one);
    expect(error).toMatchObject({ code: "MODEL_FAILED", message: expect.stringContaining("bad") });
    expect(String(error)).not.toContain(key);
  });
});

describe("Codex as a model", () => {
  /** As Codex 0.166 writes them. */
  const start = `
    writeLine({ type: "thread.started", thread_id: "01a1e816" });
    writeLine({ type: "item.completed", item: { id: "item_0", type: "error", message: "a warning" } });
    writeLine({ type: "turn.started" });`;
  const usage = "{ input_tokens: 6920, cached_input_tokens: 0, output_tokens: 8, reasoning_output_tokens: 0 }";
  const fail = (message: string) => `${start}
    writeLine({ type: "error", message: ${JSON.stringify(message)} });
    writeLine({ type: "turn.failed", error: { message: ${JSON.stringify(message)} } });
    process.exitCode = 1;`;

  it("answers with its last message", async () => {
    const { model, scripted } = open(
      "codex-cli/gpt-5-mini",
      `${start}
      writeLine({ type: "item.completed", item: { id: "item_1", type: "agent_message", text: "Let me see." } });
      writeLine({ type: "item.completed", item: { id: "item_2", type: "agent_message", text: "She did." } });
      writeLine({ type: "turn.completed", usage: ${usage} });`,
    );
    expect(await model.call(request)).toEqual({ text: "She did.", usage: { inputTokens: 6920, outputTokens: 8 } });
    const [call] = scripted.readCalls();
    expect(call).toMatchObject({ input: request.user, files: [], instructions: request.system });
    expect(call?.args.slice(0, 4)).toEqual(["exec", "--json", "--sandbox", "read-only"]);
    expect(call?.args).toEqual(
      expect.arrayContaining(["--ephemeral", "--ignore-user-config", "--model", "gpt-5-mini"]),
    );
    expect(call?.args.slice(-2)).toEqual(["--extra", "-"]);
    expect(call?.env.VARVE_HOOK).toBe("off");
  });

  it.each([
    [
      "no login",
      fail("unexpected status 401 Unauthorized: Missing bearer or basic authentication"),
      "MODEL_KEY_REFUSED",
    ],
    ["a usage limit", fail("You’ve hit your usage limit. Upgrade to Pro or try again at 3:45 PM."), "MODEL_PAUSED"],
    ["an overloaded server", fail("unexpected status 503 Service Unavailable: overloaded"), "MODEL_FAILED"],
    [
      "an older version",
      "console.error(\"error: unexpected argument '--ephemeral' found\"); process.exitCode = 2;",
      "BAD_CONFIG",
    ],
    ["an answer that was cut off", `${start} process.stdout.write('{"type":"item.comp');`, "MODEL_FAILED"],
    ["no answer", `${start} writeLine({ type: "turn.completed", usage: ${usage} });`, "MODEL_FAILED"],
    ["garbage", 'process.stdout.write("hello\\n[]\\n{}\\n");', "MODEL_FAILED"],
  ])("tells %s apart", async (_, body, code) => {
    await expect(open("codex-cli", body).model.call(request)).rejects.toMatchObject({ code });
  });
});
