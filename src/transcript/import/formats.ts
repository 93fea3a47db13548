import { chatgpt } from "./chatgpt.ts";
import { claudeAi } from "./claude-ai.ts";
import { claudeCode } from "./claude-code.ts";
import { codex } from "./codex.ts";
import { jsonl } from "./jsonl.ts";
import { openclaw } from "./openclaw.ts";
import { pi } from "./pi.ts";
import type { SourceFormat } from "./reader.ts";

/** All formats, in the order in which a file is tried: the particular before the general. */
export const sourceFormats: readonly SourceFormat[] = [claudeCode, codex, openclaw, pi, chatgpt, claudeAi, jsonl];

/** The format of a file, from its path and its first records; `undefined` when nothing fits. */
export function detectSource(path: string, firstRecords: string[]): SourceFormat | undefined {
  return sourceFormats.find((format) => format.detect(path, firstRecords));
}
