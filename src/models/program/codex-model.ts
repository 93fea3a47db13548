import { join } from "node:path";
import { z } from "zod";
import { VarveError } from "../../domain/index.ts";
import { quoteSafely } from "../auth/quote.ts";
import type { GeneratedText } from "../generate.ts";
import type { ProgramResult } from "./process.ts";
import { createProgramError, type InstalledProgram } from "./program-failure.ts";
import type { ProgramKind } from "./program-kind.ts";

const codex: InstalledProgram = {
  title: "Codex",
  login: "codex login",
  install: "npm install -g @openai/codex",
};

/** The lines of `codex exec --json` that matter here. */
const eventSchema = z.union([
  z.looseObject({
    type: z.literal("item.completed"),
    item: z.looseObject({ type: z.literal("agent_message"), text: z.string() }),
  }),
  z.looseObject({ type: z.literal("turn.failed"), error: z.looseObject({ message: z.string() }) }),
  z.looseObject({
    type: z.literal("turn.completed"),
    usage: z.looseObject({ input_tokens: z.number().default(0), output_tokens: z.number().default(0) }).optional(),
  }),
]);
type CodexEvent = z.output<typeof eventSchema>;

const instructionsFile = "instructions.md";
/** Parts of Codex that run programs, load what people added to it, or offer the model tools. */
const featuresOff = [
  "shell_tool",
  "hooks",
  "plugins",
  "apps",
  "multi_agent",
  "goals",
  "view_image",
  "image_generation",
  "skill_search",
  "tool_suggest",
];
const settingsOff = [
  'web_search="disabled"',
  "project_doc_max_bytes=0",
  "skills.include_instructions=false",
  "include_environment_context=false",
];

/** Codex in a read-only sandbox: without its configuration file, and with it without MCP servers; nothing is saved. */
export const codexKind: ProgramKind = {
  ...codex,
  setting: "models.codexCli",
  describeRun: ({ system, user, model, folder }) => ({
    args: [
      "exec",
      "--json",
      "--sandbox",
      "read-only",
      "--skip-git-repo-check",
      "--ephemeral",
      "--ignore-user-config",
      "--ignore-rules",
      "--color",
      "never",
      // A path as JSON is also a TOML string.
      ...listSettings([`model_instructions_file=${JSON.stringify(join(folder, instructionsFile))}`]),
      ...listSettings(featuresOff.map((feature) => `features.${feature}=false`)),
      ...listSettings(settingsOff),
      ...(model === undefined ? [] : ["--model", model]),
    ],
    lastArgs: ["-"],
    input: user,
    files: { [instructionsFile]: system },
  }),
  readAnswer: readCodexAnswer,
};

function listSettings(pairs: readonly string[]): string[] {
  return pairs.flatMap((pair) => ["-c", pair]);
}

function readCodexAnswer({ code, output, errors }: ProgramResult): GeneratedText {
  const events = output.split("\n").flatMap(parseEvent);
  const failure = events.findLast((event) => event.type === "turn.failed");
  if (failure !== undefined) throw createProgramError(codex, { text: failure.error.message });
  if (code !== 0) throw createProgramError(codex, { text: errors.trim() || output || `It ended with ${code}.` });
  const message = events.findLast((event) => event.type === "item.completed");
  const end = events.findLast((event) => event.type === "turn.completed");
  if (end === undefined) {
    throw new VarveError(
      "MODEL_FAILED",
      `Codex wrote what cannot be read: ${quoteSafely(output || errors) || "nothing"}`,
      {
        remedy: "Check with `codex exec --json` whether it runs by itself.",
      },
    );
  }
  const text = message?.item.text.trim() ?? "";
  if (text === "") throw new VarveError("MODEL_FAILED", "Codex answered nothing.", { details: { retry: true } });
  if (end.usage === undefined) return { text };
  return { text, usage: { inputTokens: end.usage.input_tokens, outputTokens: end.usage.output_tokens } };
}

/** The event of a line; lines of other kinds, and those that are not JSON, are skipped. */
function parseEvent(line: string): CodexEvent[] {
  if (!line.startsWith("{")) return [];
  try {
    const parsed = eventSchema.safeParse(JSON.parse(line));
    return parsed.success ? [parsed.data] : [];
  } catch {
    // Half a line of a program that was ended; without a last event the answer is an error.
    return [];
  }
}
