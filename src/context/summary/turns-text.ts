import { timeRange, timeWriter } from "../summary-text.ts";
import type { SummaryTurn } from "./summary-request.ts";

/** Turns as a model reads them: each with its time and speaker; a summary under a heading with its time range. */
export function turnsText(turns: readonly SummaryTurn[], timeZone?: string): string {
  const write = timeWriter(timeZone);
  return turns.map((turn) => turnText(turn, write)).join("\n");
}

function turnText(turn: SummaryTurn, write: (time: number) => string): string {
  const time = turn.until === undefined ? write(turn.time) : timeRange(turn.time, turn.until, write);
  const citation = turn.seq === undefined ? "" : `msg#${turn.seq}`;
  const stamp = time === "" && citation === "" ? "" : `[${[citation, time].filter((part) => part !== "").join(" ")}]`;
  if (turn.until !== undefined) return `${stamp}\n${turn.text}\n`;
  const tools = turn.toolNames?.length ? ` (${turn.toolNames.join(", ")})` : "";
  const name = turn.speaker ?? turn.role ?? "";
  const files = turn.paths?.length ? `\n${turn.paths.map(fileNote).join("\n")}` : "";
  return `${[stamp, name === "" ? "" : `${name}${tools}:`, turn.text].filter((part) => part !== "").join(" ")}${files}`;
}

function fileNote({ path, operation }: { path: string; operation?: string }): string {
  return `(file ${path}${operation === undefined ? "" : `: ${operation}`})`;
}
