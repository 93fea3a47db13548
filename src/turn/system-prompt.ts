import type { Config } from "../config/index.ts";
import { formatDay } from "../domain/index.ts";

/** The system prompt. It contains the day but not the hour, so that the prefix of the prompt does not change every turn. */
export function buildSystemPrompt({ turn, timezone }: Config, now: number, addition: string | undefined): string {
  const day = formatDay(now, timezone);
  return [turn.systemPrompt, `Today is ${day}.`, addition].filter(Boolean).join("\n\n");
}
