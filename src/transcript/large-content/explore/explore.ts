import { exploreCode } from "./code.ts";
import { exploreCsv } from "./csv.ts";
import { detect, type FileHints } from "./detect.ts";
import { exploreJson } from "./json.ts";
import { exploreLog } from "./log.ts";
import { exploreProse } from "./prose.ts";
import type { ExploredText } from "./summary-format.ts";
import { formatNumber, formatSummary } from "./summary-format.ts";

export interface Exploration {
  kind: "json" | "csv" | "code" | "log" | "text";
  /** About 200 tokens, at most 220. */
  summary: string;
}

/** Only this many characters are examined. */
export const exploreCharactersMax = 2 * 1024 * 1024;

/** Summarises a large text in a few lines: enough to decide whether to open it, and where. Never throws. */
export function exploreText(text: string, hints: FileHints = {}): Exploration {
  const isCut = text.length > exploreCharactersMax;
  const start = isCut ? text.slice(0, exploreCharactersMax) : text;
  const seen = isCut ? `; only the first ${formatNumber(exploreCharactersMax)} were looked at` : "";
  const subject: ExploredText = { text: start, isCut, extent: `${formatNumber(text.length)} characters${seen}` };
  if (text.trim() === "") return { kind: "text", summary: `Nothing but blanks: ${subject.extent}.` };
  const detected = detect(start, hints);
  try {
    return { kind: detected.kind, summary: describe(subject, detected) };
  } catch (error) {
    // A failing reader must not prevent the content from being stored.
    const why = error instanceof Error ? error.message : String(error);
    return {
      kind: detected.kind,
      summary: formatSummary(`${detected.kind}, ${subject.extent}`, [{ label: "Not read", items: [why] }]),
    };
  }
}

function describe(subject: ExploredText, detected: ReturnType<typeof detect>): string {
  switch (detected.kind) {
    case "json":
      return exploreJson(subject, detected.lines);
    case "csv":
      return exploreCsv(subject, detected.delimiter);
    case "code":
      return exploreCode(subject, detected.language);
    case "log":
      return exploreLog(subject);
    case "text":
      return exploreProse(subject);
  }
}
