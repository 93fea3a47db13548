import { looksLikeCode } from "./code-looks.ts";
import { findDelimiter } from "./csv.ts";
import { isJsonLines, looksLikeJson } from "./json.ts";
import { type Language, languageOfName } from "./languages.ts";
import { looksLikeLog } from "./log.ts";

/** What a text is, with what the reader of that kind needs to know. */
export type Detected =
  | { kind: "json"; lines: boolean }
  | { kind: "csv"; delimiter: string }
  | { kind: "code"; language: Language }
  | { kind: "log" }
  | { kind: "text" };

export interface Hints {
  name?: string;
  mediaType?: string;
}

/** How much is looked at where nothing was said: the beginning of a file gives it away. */
const lookAt = 64 * 1024;

/** What it is called and what it is sent as come first; a look at it decides the rest. */
export function detect(text: string, hints: Hints): Detected {
  return bySaying(text, hints) ?? byLooking(text);
}

function bySaying(text: string, { name = "", mediaType = "" }: Hints): Detected | undefined {
  const media = mediaType.toLowerCase().split(";")[0]?.trim() ?? "";
  // `app.log.1` is a log, whatever number it was rotated to.
  const extension = /\.([a-z0-9+]+)$/i.exec(name.replace(/(?:\.\d+)+$/, ""))?.[1]?.toLowerCase() ?? "";
  const start = text.slice(0, lookAt);
  if (["jsonl", "ndjson"].includes(extension) || /\b(?:x-ndjson|jsonl|jsonlines|json-seq)$/.test(media)) {
    return { kind: "json", lines: true };
  }
  if (["json", "geojson", "ipynb", "har", "webmanifest"].includes(extension) || /[/+]json$/.test(media)) {
    return { kind: "json", lines: isJsonLines(start) };
  }
  if (["tsv", "tab"].includes(extension) || media === "text/tab-separated-values")
    return { kind: "csv", delimiter: "\t" };
  if (extension === "csv" || media === "text/csv") return { kind: "csv", delimiter: findDelimiter(start, 1) ?? "," };
  if (extension === "log") return { kind: "log" };
  if (["md", "markdown", "rst", "adoc"].includes(extension) || media === "text/markdown") return { kind: "text" };
  const language = languageOfName(extension, media);
  return language === undefined ? undefined : { kind: "code", language };
}

function byLooking(text: string): Detected {
  const start = text.slice(0, lookAt);
  if (isJsonLines(start)) return { kind: "json", lines: true };
  if (looksLikeJson(start)) return { kind: "json", lines: false };
  // A log whose lines name levels may have commas at the same place in all of them; a table may begin with times.
  if (looksLikeLog(start, "levels")) return { kind: "log" };
  const language = looksLikeCode(start);
  if (language !== undefined) return { kind: "code", language };
  const delimiter = findDelimiter(start, 3);
  if (delimiter !== undefined) return { kind: "csv", delimiter };
  return looksLikeLog(start, "times") ? { kind: "log" } : { kind: "text" };
}
