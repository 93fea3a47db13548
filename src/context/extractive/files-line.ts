import { estimateTokens } from "../../tokens/index.ts";
import { filesPrefix, noFiles } from "../summary-lines.ts";
import type { ExtractiveTurn } from "./candidates.ts";

const textCharsMax = 20_000;
const entriesMax = 40;

/** What stands between the words of prose, code and JSON, and never inside a path. */
const separators = /[\s"'`()<>,;=[\]{}|*]+/;
const folderAndName = /^(?:~\/|\.{0,2}\/|[A-Za-z]:\\)?(?:[\w@+.-]+[/\\])+[\w@+.-]*\w$/;
const bareName =
  /^[\w-]+(?:\.\w+)?\.(?:tsx?|jsx?|mjs|py|rs|go|java|rb|cc?|h|cpp|cs|json|ya?ml|toml|md|sql|sh|css|html|csv|txt|pdf|xlsx?|docx?|png|log|lock|env)$/;

/** The line about files: what was done to which, those worked with and the newest when there is room for some only. */
export function filesLine(
  turns: readonly ExtractiveTurn[],
  known: readonly { path: string; operation?: string }[],
  budget: number,
): string {
  const files = new Map<string, Set<string>>();
  const note = (path: string, operation?: string) => {
    const operations = files.get(path) ?? new Set();
    // A path that comes again moves to the end: what was touched last matters most.
    files.delete(path);
    files.set(path, operation === undefined ? operations : operations.add(operation));
  };
  for (const { path, operation } of known) note(clean(path), operation);
  for (const turn of turns) {
    for (const { path, operation } of turn.paths ?? []) note(clean(path), operation);
    // What a tool printed names more files than anybody worked with.
    if (turn.role !== "tool" && files.size < 10 * entriesMax) for (const path of pathsIn(turn.text)) note(path);
  }
  files.delete("");
  return printFiles(files, budget);
}

/** The file paths that a text names. */
export function pathsIn(text: string): string[] {
  const head = text.length <= textCharsMax ? text : text.slice(0, textCharsMax);
  const found: string[] = [];
  for (const word of head.split(separators)) {
    if (word.length < 4 || word.length > 200 || !(word.includes("/") || word.includes(".") || word.includes("\\")))
      continue;
    const path = word.replace(/[.:!?]+$|:\d+(?::\d+)?:?$/, "");
    if (isPath(path)) found.push(path);
  }
  return found;
}

/** Words joined by a slash, dates and fractions are no paths: one has an extension, or a root and a folder. */
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
  // Files that something was done to come before those that were only spoken of.
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
