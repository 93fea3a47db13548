import { exploreCode } from "./code.ts";
import { exploreCsv } from "./csv.ts";
import { detect, type Hints } from "./detect.ts";
import { count, fit } from "./fit.ts";
import { exploreJson } from "./json.ts";
import { exploreLog } from "./log.ts";
import { exploreProse } from "./prose.ts";
import type { Subject } from "./subject.ts";

export interface Explored {
  kind: "json" | "csv" | "code" | "log" | "text";
  /** About 200 tokens, never more than 220. */
  summary: string;
}

/** What is looked at of a text. */
export const exploreCharactersMax = 2 * 1024 * 1024;

/** What a large text is, in a few lines: enough to decide whether to open it, and where. Never throws. */
export function explore(text: string, hints: Hints = {}): Explored {
  const isCut = text.length > exploreCharactersMax;
  const start = isCut ? text.slice(0, exploreCharactersMax) : text;
  const seen = isCut ? `; only the first ${count(exploreCharactersMax)} were looked at` : "";
  const subject: Subject = { text: start, isCut, extent: `${count(text.length)} characters${seen}` };
  if (text.trim() === "") return { kind: "text", summary: `Nothing but blanks: ${subject.extent}.` };
  const detected = detect(start, hints);
  try {
    return { kind: detected.kind, summary: describe(subject, detected) };
  } catch (error) {
    // A reader that stumbles must not keep the content itself from being stored.
    const why = error instanceof Error ? error.message : String(error);
    return {
      kind: detected.kind,
      summary: fit(`${detected.kind}, ${subject.extent}`, [{ label: "Not read", items: [why] }]),
    };
  }
}

function describe(subject: Subject, detected: ReturnType<typeof detect>): string {
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
