import type { Candidate, ExtractiveTurn } from "./candidates.ts";

/** A new time is worth a line's beginning after this long. */
const stampEveryMs = 10 * 60_000;
const minutesLength = "2024-05-08 13:56".length;

const roleNames = { system: "System", user: "User", assistant: "Assistant", tool: "Tool" } as const;

/** The chosen sentences in the order they were said, with who said them and, where it moves on, when. */
export function printLines(
  chosen: readonly Candidate[],
  turns: readonly ExtractiveTurn[],
  depth: number,
  write: (time: number) => string,
): string {
  const lines: string[] = [];
  let lastTurn = -1;
  let lastAt = Number.NEGATIVE_INFINITY;
  let lastDay = "";
  for (const { turn: at, text } of chosen.toSorted((a, b) => a.order - b.order)) {
    const turn = turns[at];
    if (turn === undefined) continue;
    const words = cleanText(text);
    if (at === lastTurn) {
      lines.push(`${lines.pop() ?? ""} ${words}`);
      continue;
    }
    lastTurn = at;
    // At depth 3 and above only the day is kept.
    const written = write(turn.time).slice(0, depth >= 3 ? 10 : minutesLength);
    const day = written.slice(0, 10);
    let prefix = "";
    if (written !== "" && (day !== lastDay || (depth < 3 && Math.abs(turn.time - lastAt) >= stampEveryMs))) {
      prefix = `[${day === lastDay ? written.slice(11) : written}] `;
      lastAt = turn.time;
      lastDay = day;
    }
    lines.push(`${prefix}${nameOf(turn)}${words}`);
  }
  return lines.join("\n");
}

function nameOf(turn: ExtractiveTurn): string {
  const name = turn.speaker ?? (turn.role === undefined ? "" : roleNames[turn.role]);
  const tools = turn.role === "tool" && turn.toolNames?.length ? ` ${turn.toolNames.slice(0, 3).join(" ")}` : "";
  return name === "" ? "" : `${cleanText(name).slice(0, 40)}${tools}: `;
}

/** Text that can stand in one line and be written as UTF-8. */
function cleanText(text: string): string {
  return text
    .replace(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .replace(/\*\*(?=\S)([^*\n]+)\*\*/g, "$1")
    .toWellFormed();
}
