import type { Config } from "../config/index.ts";
import { formatDay } from "../domain/index.ts";

/** What the model is told first. The day is in it, the hour is not: what comes first must not change with every turn. */
export function buildSystemPrompt({ turn, timezone }: Config, now: number, addition: string | undefined): string {
  const day = formatDay(now, timezone);
  return [turn.systemPrompt, `Today is ${day}.`, addition].filter(Boolean).join("\n\n");
}
