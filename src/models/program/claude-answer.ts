import { z } from "zod";
import { VarveError } from "../../domain/index.ts";
import { quoteSafely } from "../auth/quote.ts";
import type { TokenUsage } from "../generate.ts";
import type { ProgramResult } from "./process.ts";
import { createProgramError, type InstalledProgram } from "./program-failure.ts";

export const claudeCode: InstalledProgram = {
  title: "Claude Code",
  login: "claude auth login",
  install: "npm install -g @anthropic-ai/claude-code",
};

const count = z.number().default(0);

/** The output of `claude --print --output-format json`. */
const answerSchema = z.looseObject({
  result: z.string().optional(),
  is_error: z.boolean().optional(),
  subtype: z.string().optional(),
  api_error_status: z.number().nullish(),
  num_turns: z.number().optional(),
  /** The name of a command of Claude Code's own, which was run instead of a model. */
  local_command: z.string().optional(),
  usage: z
    .looseObject({
      input_tokens: count,
      output_tokens: count,
      cache_creation_input_tokens: count,
      cache_read_input_tokens: count,
    })
    .optional(),
  modelUsage: z.record(z.string(), z.unknown()).optional(),
});

export interface ClaudeAnswer {
  text: string;
  /** The model that answered, as the provider names it. */
  model?: string;
  usage?: TokenUsage & {
    /** Read from or written to the provider's prompt cache; not part of `inputTokens`. */
    cachedTokens: number;
  };
  turns: number;
}

/** Reads the answer of Claude Code, or throws what it failed with. */
export function readClaudeAnswer({ code, output, errors }: ProgramResult): ClaudeAnswer {
  const parsed = answerSchema.safeParse(parseJson(output));
  if (!parsed.success) {
    if (code !== 0) throw createProgramError(claudeCode, { text: errors.trim() || output || `It ended with ${code}.` });
    throw unreadableError(output || errors);
  }
  const { result, is_error, subtype, api_error_status, usage, modelUsage, num_turns, local_command } = parsed.data;
  if (result === undefined && !is_error && code === 0) throw unreadableError(output);
  if (is_error || result === undefined || code !== 0) {
    const text = result || errors.trim() || subtype || `It ended with ${code}.`;
    throw createProgramError(claudeCode, { text, status: api_error_status ?? undefined });
  }
  if (local_command !== undefined) throw unreadableError(`the output of its command ${local_command}`);
  if (result.trim() === "") {
    throw new VarveError("MODEL_FAILED", "Claude Code answered nothing.", { details: { retry: true } });
  }
  const model = Object.keys(modelUsage ?? {})[0];
  return {
    text: result,
    turns: num_turns ?? 1,
    ...(model === undefined ? {} : { model }),
    ...(usage === undefined
      ? {}
      : {
          usage: {
            inputTokens: usage.input_tokens,
            outputTokens: usage.output_tokens,
            cachedTokens: usage.cache_creation_input_tokens + usage.cache_read_input_tokens,
          },
        }),
  };
}

function unreadableError(output: string): VarveError {
  return new VarveError("MODEL_FAILED", `Claude Code wrote what cannot be read: ${quoteSafely(output) || "nothing"}`, {
    remedy: "Check with `claude --print --output-format json` whether it runs by itself.",
  });
}

function parseJson(output: string): unknown {
  try {
    return JSON.parse(output);
  } catch {
    // Invalid JSON fails the schema, whose error quotes the output.
    return undefined;
  }
}
