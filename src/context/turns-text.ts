import type { ExtractiveTurn } from "./extractive/candidates.ts";
import { timeRange, timeWriter } from "./timestamps.ts";

/** Turns as a model reads them: each with its time and speaker; a summary under a heading with its time range. */
export function turnsText(turns: readonly ExtractiveTurn[], timeZone?: string): string {
  const write = timeWriter(timeZone);
  return turns.map((turn) => turnText(turn, write)).join("\n");
}

function turnText(turn: ExtractiveTurn, write: (time: number) => string): string {
  const time = turn.until === undefined ? write(turn.time) : timeRange(turn.time, turn.until, write);
  const stamp = time === "" ? "" : `[${time}]`;
  if (turn.until !== undefined) return `${stamp}\n${turn.text}\n`;
  const tools = turn.toolNames?.length ? ` (${turn.toolNames.join(", ")})` : "";
  const name = turn.speaker ?? turn.role ?? "";
  const files = turn.paths?.length ? `\n${turn.paths.map(fileNote).join("\n")}` : "";
  return `${[stamp, name === "" ? "" : `${name}${tools}:`, turn.text].filter((part) => part !== "").join(" ")}${files}`;
}

function fileNote({ path, operation }: { path: string; operation?: string }): string {
  return `(file ${path}${operation === undefined ? "" : `: ${operation}`})`;
}
