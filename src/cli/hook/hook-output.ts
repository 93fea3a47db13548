import { escapeTags } from "../../domain/index.ts";

/** The largest text that Claude Code takes; the gateway sends less. */
const contextCharactersMax = 10_000;

/** Characters that a terminal or a model could read as more than text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to remove.
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
const block = /^(<varve [^<>]*>\n)([\s\S]*)(\n?<\/varve>)([^<>]*)$/;

/**
 * Checks the output of a hook before it is printed: one text for this event, in one block whose content opens and closes
 * no tag. Throws for anything else.
 */
export function checkHookOutput(event: string, output: unknown): unknown {
  if (output === undefined || output === null) return undefined;
  const { hookSpecificOutput: specific, ...others } = toObject(output);
  const { hookEventName, additionalContext, ...rest } = toObject(specific);
  const hasOthers = Object.keys(others).length + Object.keys(rest).length > 0;
  if (hasOthers || hookEventName !== event || typeof additionalContext !== "string") throw createOutputError();
  if (additionalContext.length > contextCharactersMax) throw createOutputError();
  const parts = block.exec(additionalContext.replaceAll(controls, ""));
  if (!parts) throw createOutputError();
  const [, opening = "", content = "", closing = "", footer = ""] = parts;
  return {
    hookSpecificOutput: { hookEventName, additionalContext: opening + escapeTags(content) + closing + footer },
  };
}

function toObject(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw createOutputError();
  return value as Record<string, unknown>;
}

function createOutputError(): Error {
  return new Error("the answer is not the output of a hook");
}
