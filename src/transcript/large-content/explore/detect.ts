import { findDelimiter } from "./csv.ts";
import { isJsonLines, looksLikeJson } from "./json.ts";
import { findLanguage, type Language } from "./languages.ts";
import { looksLikeLog } from "./log.ts";

/** The kind of a text, with the parameters of its reader. */
export type DetectedKind =
  | { kind: "json"; lines: boolean }
  | { kind: "csv"; delimiter: string }
  | { kind: "code"; language: Language }
  | { kind: "log" }
  | { kind: "text" };

export interface FileHints {
  name?: string;
  mediaType?: string;
}

/** The beginning of a file is enough to detect its kind. */
const sampleCharacters = 64 * 1024;

/** Name and media type decide first, then the content. */
export function detect(text: string, hints: FileHints): DetectedKind {
  return detectByName(text, hints) ?? detectByContent(text);
}

function detectByName(text: string, { name = "", mediaType = "" }: FileHints): DetectedKind | undefined {
  const media = mediaType.toLowerCase().split(";")[0]?.trim() ?? "";
  // `app.log.1` is a log, whatever its rotation number.
  const extension = /\.([a-z0-9+]+)$/i.exec(stripRotation(name))?.[1]?.toLowerCase() ?? "";
  const start = text.slice(0, sampleCharacters);
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
  const language = findLanguage(extension, media);
  return language === undefined ? undefined : { kind: "code", language };
}

function detectByContent(text: string): DetectedKind {
  const start = text.slice(0, sampleCharacters);
  if (isJsonLines(start)) return { kind: "json", lines: true };
  if (looksLikeJson(start)) return { kind: "json", lines: false };
  // A log with levels may have commas at the same position in all lines; a table may start with times.
  if (looksLikeLog(start, "levels")) return { kind: "log" };
  const language = detectLanguage(start);
  if (language !== undefined) return { kind: "code", language };
  const delimiter = findDelimiter(start, 3);
  if (delimiter !== undefined) return { kind: "csv", delimiter };
  return looksLikeLog(start, "times") ? { kind: "log" } : { kind: "text" };
}

/** Lines that are typical of one language. */
const languagePatterns: readonly (readonly [Language, RegExp])[] = [
  [
    "TypeScript",
    /^\s*(?:export )?(?:declare |abstract )*(?:interface \w+[^:]*\{|type \w+(?:<.*>)? =|enum \w+ \{|(?:async )?function \w+\(.*\w\??: .*\)|(?:const|let) \w+: )|^import type /,
  ],
  [
    "JavaScript",
    /^\s*(?:import\b.*\bfrom ['"]|import ['"]|export (?:default|const|let|function|class|async|\{|\*)|(?:const|let|var) [\w{[].* = |(?:async )?function\*? \w+\(|class \w+(?: extends [\w.]+)? \{|module\.exports\b|\}\)(?:\(\))?;$)/,
  ],
  [
    "Python",
    /^\s*(?:async )?def \w+\(.*|^\s*class \w+(?:\(.*\))?:\s*$|^(?:import [\w.]+(?: as \w+)?(?:, [\w.]+)*|from [\w.]+ import .+)$|^if __name__ ==|^\s*(?:elif .*|else|try|except.*|finally):\s*$|^@\w[\w.]*/,
  ],
  [
    "Rust",
    /^\s*(?:pub(?:\([a-z]+\))? )?(?:async |unsafe |const )*fn \w+|^\s*(?:pub )?use (?:\w+::)+|^\s*impl(?:<.*>)? \w+|^\s*(?:pub )?(?:struct|enum|trait|mod) \w+|^\s*let mut \w+|^#!?\[\w+/,
  ],
  [
    "Go",
    /^package \w+$|^func (?:\(\w+ \*?\w+(?:\[.*\])?\) )?\w+(?:\[.*\])?\(|^import \($|^import "|^type \w+ (?:struct|interface|func)\b|^\s*\w+(?:, \w+)* := |^\s*if err != nil \{/,
  ],
  [
    "Java",
    /^package [\w.]+;|^import (?:static )?[\w.]+(?:\.\*)?;|^\s*(?:public|private|protected) (?:(?:static|final|abstract|sealed) )*(?:class|interface|enum|record|void|[\w<>[\]]+) \w+|^\s*@Override$/,
  ],
  [
    "C++",
    /^\s*#\s*include <\w+>$|^\s*(?:using namespace \w+;|namespace \w+ ?\{|template ?<|class \w+(?: final)?(?: : \w+ \w+)? ?\{?$|(?:public|private|protected):$)|\bstd::\w+/,
  ],
  [
    "C",
    /^\s*#\s*(?:include [<"]|define \w+|ifn?def \w+|endif)|^(?:static |extern |const |unsigned )*(?:int|void|char|size_t|long|double|float|bool|struct \w+) \*?\w+\(.*|^typedef (?:struct|enum|union)?\b/,
  ],
];
const linesMax = 400;
const hitsMin = 3;
const shareMin = 0.04;

/** Detects the programming language of a text; `undefined` when it does not look like code. */
function detectLanguage(start: string): Language | undefined {
  if (/^\s*<\?php\b/.test(start)) return "PHP";
  const interpreter = /^#!.*?\b(python|node|deno|bun|php)/.exec(start)?.[1];
  if (interpreter !== undefined)
    return interpreter === "python" ? "Python" : interpreter === "php" ? "PHP" : "JavaScript";
  const lines = dropFencedLines(start.split("\n", linesMax)).filter((line) => line.trim() !== "");
  const hits = languagePatterns.map(([language, pattern]) => ({
    language,
    hits: lines.filter((line) => pattern.test(line.slice(0, 300).trimEnd())).length,
  }));
  const best = hits.reduce((one, other) => (other.hits > one.hits ? other : one));
  if (best.hits < hitsMin || best.hits < shareMin * lines.length) return undefined;
  const countHits = (language: Language) => hits.find((one) => one.language === language)?.hits ?? 0;
  // These pairs share most of their syntax; what only the second one has decides.
  if (best.language === "JavaScript" && countHits("TypeScript") > 0) return "TypeScript";
  if (best.language === "C" && countHits("C++") > 0 && !isPlainC(lines)) return "C++";
  return best.language;
}

/** Fenced code is part of a text about it. */
function dropFencedLines(lines: readonly string[]): string[] {
  let isFenced = false;
  return lines.filter((line) => {
    const isFence = /^\s{0,3}(?:```|~~~)/.test(line);
    if (isFence) isFenced = !isFenced;
    return !isFence && !isFenced;
  });
}

function isPlainC(lines: readonly string[]): boolean {
  return !lines.some((line) => /\bstd::|^\s*(?:template ?<|namespace \w+|class \w+|using namespace )/.test(line));
}

/** Removes the numbers at the end of a file name: `app.log` for `app.log.1`. */
function stripRotation(name: string): string {
  let end = name.length;
  for (;;) {
    let at = end;
    while (at > 0 && /\d/.test(name[at - 1] ?? "")) at -= 1;
    if (at === end || name[at - 1] !== ".") return name.slice(0, end);
    end = at - 1;
  }
}
