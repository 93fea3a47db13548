import { z } from "zod";
import type { Config } from "../../config/index.ts";
import { VarveError } from "../../domain/index.ts";
import type { Session } from "../../session/index.ts";
import type { Runner } from "./port.ts";
import { onePrompt, runProgram } from "./program.ts";

/** The output of `claude --print --output-format json`. */
const answerSchema = z.looseObject({
  result: z.string().optional(),
  is_error: z.boolean().optional(),
  subtype: z.string().optional(),
  num_turns: z.number().optional(),
  total_cost_usd: z.number().optional(),
  usage: z.looseObject({ input_tokens: z.number().default(0), output_tokens: z.number().default(0) }).optional(),
  modelUsage: z.record(z.string(), z.unknown()).optional(),
});

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
      const { output, errors } = await runProgram({ program: claude.program, args, input, cwd, signal });
      const answer = read(output, errors);
      onText(answer.text);
      const { usage, model, notes } = answer;
      const message = {
        role: "assistant" as const,
        content: answer.text,
        provider: "claude-cli",
        ...(model ? { model } : {}),
      };
      return { message, finishReason: "stop", notes, ...(usage ? { usage } : {}) };
    },
  };
}

function read(output: string, errors: string) {
  const parsed = answerSchema.safeParse(jsonIn(output));
  if (!parsed.success) {
    throw new VarveError("MODEL_FAILED", `Claude Code wrote what cannot be read: ${output.slice(0, 300) || errors}`, {
      remedy: "Check with `claude --print --output-format json` whether it runs by itself.",
    });
  }
  const { result, is_error, subtype, usage, modelUsage, num_turns } = parsed.data;
  if (is_error || result === undefined) {
    throw new VarveError("MODEL_FAILED", `Claude Code failed (${subtype ?? "no reason given"}): ${result ?? errors}`, {
      remedy: "See what `claude --print` says by itself; it may have to be logged in.",
    });
  }
  if (result.trim() === "")
    throw new VarveError("MODEL_FAILED", "Claude Code answered nothing.", { details: { retry: true } });
  const notes = (num_turns ?? 1) > 1 ? [`Claude Code took ${num_turns} steps.`] : [];
  return {
    text: result,
    notes,
    model: Object.keys(modelUsage ?? {})[0],
    usage: usage && { inputTokens: usage.input_tokens, outputTokens: usage.output_tokens },
  };
}

function jsonIn(output: string): unknown {
  try {
    return JSON.parse(output);
  } catch {
    // Invalid JSON fails the schema, whose error quotes the output.
    return undefined;
  }
}
