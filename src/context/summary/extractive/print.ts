import { estimateTokens } from "../../../text/index.ts";
import { expandPrefix, filesPrefix, noFiles } from "../../summary-text.ts";
import type { SummaryTurn } from "../summary-request.ts";
import type { Candidate } from "./candidates.ts";
import { cues, getCues } from "./candidates.ts";
import { scanWords } from "./words.ts";

/** A line shows its time when this long has passed since the last one shown. */
const stampEveryMs = 10 * 60_000;

const roleNames = { system: "System", user: "User", assistant: "Assistant", tool: "Tool" } as const;

/** The selected sentences in order, with their speakers and, where time has passed, their times. */
export function printLines(
  chosen: readonly Candidate[],
  turns: readonly SummaryTurn[],
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
    const written = depth >= 3 ? write(turn.time).slice(0, 10) : write(turn.time);
    const day = written.slice(0, 10);
    let prefix = "";
    if (written !== "" && (day !== lastDay || (depth < 3 && Math.abs(turn.time - lastAt) >= stampEveryMs))) {
      prefix = `[${day === lastDay ? written.slice(11) : written}] `;
      lastAt = turn.time;
      lastDay = day;
    }
    lines.push(`${prefix}${formatName(turn)}${words}`);
  }
  return lines.join("\n");
}

function formatName(turn: SummaryTurn): string {
  const name = turn.speaker ?? (turn.role === undefined ? "" : roleNames[turn.role]);
  const tools = turn.role === "tool" && turn.toolNames?.length ? ` ${turn.toolNames.slice(0, 3).join(" ")}` : "";
  return name === "" ? "" : `${cleanText(name).slice(0, 40)}${tools}: `;
}

/** Text on one line that is valid UTF-8. */
function cleanText(text: string): string {
  return text
    .replace(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .replace(/\*\*(?=\S)([^*\n]+)\*\*/g, "$1")
    .toWellFormed();
}

const textCharsMax = 20_000;
const entriesMax = 40;

/** Characters that separate words in prose, code and JSON, and never occur inside a path. */
const separators = /[\s"'`()<>,;=[\]{}|*]+/;
const folderAndName = /^(?:~\/|\.{0,2}\/|[A-Za-z]:\\)?(?:[\w@+.-]+[/\\])+[\w@+.-]*\w$/;
const bareName =
  /^[\w-]+(?:\.\w+)?\.(?:tsx?|jsx?|mjs|py|rs|go|java|rb|cc?|h|cpp|cs|json|ya?ml|toml|md|sql|sh|css|html|csv|txt|pdf|xlsx?|docx?|png|log|lock|env)$/;

/** The line about files and what was done to them; with little space, those worked with and the newest. */
export function filesLine(
  turns: readonly SummaryTurn[],
  known: readonly { path: string; operation?: string }[],
  budget: number,
): string {
  const files = new Map<string, Set<string>>();
  const note = (path: string, operation?: string) => {
    const operations = files.get(path) ?? new Set();
    // A repeated path moves to the end: the last use matters most.
    files.delete(path);
    files.set(path, operation === undefined ? operations : operations.add(operation));
  };
  for (const { path, operation } of known) note(clean(path), operation);
  for (const turn of turns) {
    for (const { path, operation } of turn.paths ?? []) note(clean(path), operation);
    // Tool output names more files than were worked with.
    if (turn.role !== "tool" && files.size < 10 * entriesMax) for (const path of pathsIn(turn.text)) note(path);
  }
  files.delete("");
  return printFiles(files, budget);
}

/** The file paths in a text. */
export function pathsIn(text: string): string[] {
  const head = text.length <= textCharsMax ? text : text.slice(0, textCharsMax);
  const found: string[] = [];
  for (const word of head.split(separators)) {
    if (word.length < 4 || word.length > 200 || !(word.includes("/") || word.includes(".") || word.includes("\\")))
      continue;
    const path = word.replace(/(?<![.:!?])[.:!?]+$|:\d+(?::\d+)?:?$/, "");
    if (isPath(path)) found.push(path);
  }
  return found;
}

/** A path has an extension, or a root and a folder; words joined by a slash, dates and fractions are not paths. */
function isPath(text: string): boolean {
  if (bareName.test(text)) return true;
  if (!folderAndName.test(text)) return false;
  if (/\.[A-Za-z]\w{0,7}$/.test(text)) return true;
  return /^(?:~|\.{1,2})?\/[\w.@+-]{2,}\//.test(text) && /[A-Za-z]{2}/.test(text);
}

function clean(path: string): string {
  return path
    .replace(/[\p{Cc}\s,]+/gu, " ")
    .trim()
    .slice(0, 200);
}

function printFiles(files: ReadonlyMap<string, ReadonlySet<string>>, budget: number): string {
  const entries = [...files].map(([path, operations]) =>
    operations.size === 0 ? path : `${path} (${[...operations].slice(-3).join(" ")})`,
  );
  const kept = new Set<string>();
  let tokens = estimateTokens(`${filesPrefix}and 100000 more`);
  // Files with an operation come before those that were only mentioned.
  const newest = entries.toReversed();
  for (const entry of [...newest.filter((one) => one.endsWith(")")), ...newest.filter((one) => !one.endsWith(")"))]) {
    tokens += estimateTokens(`${entry}, `);
    if (tokens > budget || kept.size >= entriesMax) break;
    kept.add(entry);
  }
  if (entries.length === 0) return noFiles;
  const left = entries.length - kept.size;
  return (
    filesPrefix + [...entries.filter((entry) => kept.has(entry)), ...(left > 0 ? [`and ${left} more`] : [])].join(", ")
  );
}

const candidatesMax = 400;
const termsMax = 16;
/** Names of one to three words, identifiers, runs of ideographs, and long words. */
const term =
  /(?:\p{Lu}[\p{L}\p{N}]{1,30}(?: \p{Lu}[\p{L}\p{N}]{1,30}){0,2})|(?<![\w-])(?=\d{0,20}[A-Za-z_])[\w-]{0,40}[_\d][\w-]{0,20}|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]{2,6}|\p{L}{6,30}/gu;

/** The last line: the topics whose details were left out. */
export function expandLine(
  dropped: readonly Candidate[],
  given: readonly string[],
  body: string,
  budget: number,
): string {
  const mentioned = body.toLowerCase();
  const found = new Map<string, { term: string; score: number }>();
  const note = (text: string, score: number) => {
    const key = text.toLowerCase();
    if (text.length < 2 || mentioned.includes(key) || isCommon(text)) return;
    const known = found.get(key);
    if (known === undefined) found.set(key, { term: text, score });
    else known.score += score;
  };
  for (const text of given)
    note(
      text
        .replace(/\p{Cc}+/gu, " ")
        .trim()
        .slice(0, 60),
      1,
    );
  const best = dropped.toSorted((a, b) => b.score - a.score || a.order - b.order).slice(0, candidatesMax);
  for (const { text, score } of best) {
    for (const match of text.matchAll(term)) {
      const isName = match.index > 0 && /^[\p{Lu}_]|[_\d]/u.test(match[0]);
      note(match[0], score * (isName ? 1 : 0.2));
    }
  }
  const terms: string[] = [];
  let tokens = estimateTokens(expandPrefix);
  for (const { term } of [...found.values()].sort((a, b) => b.score - a.score || (a.term < b.term ? -1 : 1))) {
    tokens += estimateTokens(`, ${term}`);
    if (tokens > budget || terms.length >= termsMax) break;
    terms.push(term);
  }
  return expandPrefix + (terms.length === 0 ? "the exact wording" : terms.join(", "));
}

function isCommon(text: string): boolean {
  let isCommon = true;
  scanWords(text, (slot) => {
    if ((getCues(slot) & (cues.stop | cues.filler | cues.date)) === 0) isCommon = false;
  });
  return isCommon;
}
