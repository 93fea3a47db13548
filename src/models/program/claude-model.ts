import type { GeneratedText } from "../generate.ts";
import { claudeCode, readClaudeAnswer } from "./claude-answer.ts";
import type { ProgramKind } from "./program-kind.ts";

/** Text that starts like this is a command of Claude Code's own. */
const commandStart = /^\s*[/!#]/;

/** No hooks, and no file that the text mentions with an `@` is read. */
const settings = JSON.stringify({ disableAllHooks: true, permissions: { deny: ["Read"] } });

/**
 * Claude Code without anything that people add to it: a session that is not saved, no tools, no MCP servers, no hooks,
 * no CLAUDE.md. Options that older versions refuse are given as variables, which they ignore.
 */
export const claudeKind: ProgramKind = {
  ...claudeCode,
  setting: "models.claudeCli",
  describeRun: ({ system, user, model, env }) => ({
    args: [
      "--print",
      "--output-format",
      "json",
      "--system-prompt",
      system,
      "--tools",
      "",
      "--strict-mcp-config",
      "--mcp-config",
      '{"mcpServers":{}}',
      "--settings",
      settings,
      "--no-session-persistence",
      ...(model === undefined ? [] : ["--model", model]),
    ],
    input: commandStart.test(user) ? `Text:\n${user}` : user,
    env: {
      CLAUDE_CODE_SAFE_MODE: "1",
      CLAUDE_CODE_DISABLE_ATTACHMENTS: "1",
      CLAUDE_CODE_DISABLE_CLAUDE_MDS: "1",
      // The model proxy passes on a request with this header, and does not record it.
      ANTHROPIC_CUSTOM_HEADERS: [env.ANTHROPIC_CUSTOM_HEADERS, "x-varve-record: off"].filter(Boolean).join("\n"),
      // The chain of models retries, and records it.
      CLAUDE_CODE_MAX_RETRIES: "0",
      // Set when Varve itself was started by Claude Code.
      CLAUDECODE: undefined,
      CLAUDE_CODE_ENTRYPOINT: undefined,
    },
  }),
  readAnswer: (result): GeneratedText => {
    const { text, usage } = readClaudeAnswer(result);
    if (usage === undefined) return { text };
    const inputTokens = usage.inputTokens + usage.cachedTokens;
    return { text, usage: { inputTokens, outputTokens: usage.outputTokens } };
  },
};
