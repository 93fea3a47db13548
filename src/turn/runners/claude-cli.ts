import type { Config } from "../../config/index.ts";
import { readClaudeAnswer, runProcess } from "../../models/index.ts";
import type { Session } from "../../session/index.ts";
import { onePrompt } from "./one-prompt.ts";
import type { Runner } from "./port.ts";

const serverName = "varve";

/** Runs the installed Claude Code, with the memory tools over MCP. */
export function claudeRunner(
  { claude, historyLimit }: Config["turn"],
  mcpCommand: (session: Session) => { command: string; args: string[]; env: Record<string, string> },
  /** Its working folder, whose files it can read. */
  cwd: string,
): Runner {
  return {
    name: "claude-cli",
    model: claude.model,
    takes: "prompt",
    async run(request) {
      const { session, signal, onText } = request;
      const servers = { mcpServers: { [serverName]: { type: "stdio", ...mcpCommand(session) } } };
      const args = [
        "--print",
        "--output-format",
        "json",
        "--append-system-prompt",
        request.system,
        "--mcp-config",
        JSON.stringify(servers),
        "--strict-mcp-config",
        "--allowedTools",
        `mcp__${serverName}`,
        ...(claude.model === undefined ? [] : ["--model", claude.model]),
        ...claude.args,
      ];
      const input = onePrompt(request, historyLimit);
      const { text, model, usage, turns } = readClaudeAnswer(
        await runProcess({ program: claude.program, args, input, cwd, signal }),
      );
      onText(text);
      const notes = turns > 1 ? [`Claude Code took ${turns} steps.`] : [];
      const message = {
        role: "assistant" as const,
        content: text,
        provider: "claude-cli",
        ...(model ? { model } : {}),
      };
      return {
        message,
        finishReason: "stop",
        notes,
        ...(usage ? { usage: { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens } } : {}),
      };
    },
  };
}
