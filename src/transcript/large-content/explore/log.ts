import {
  type ExploredText,
  formatCount,
  formatNumber,
  formatSummary,
  splitLines,
  toSingleLine,
  truncateCharacters,
} from "./summary-format.ts";

const levelNames: Readonly<Record<string, string>> = {
  trace: "trace",
  verbose: "trace",
  debug: "debug",
  info: "info",
  information: "info",
  notice: "info",
  warn: "warn",
  warning: "warn",
  error: "error",
  err: "error",
  severe: "error",
  critical: "fatal",
  crit: "fatal",
  alert: "fatal",
  emerg: "fatal",
  panic: "fatal",
  fatal: "fatal",
};
const names = Object.keys(levelNames).join("|");
/** Levels in capitals anywhere, or in any case where they are marked as levels. */
const capitals = new RegExp(`(?:^|[^A-Za-z0-9_])(${names.toUpperCase()})(?![A-Za-z0-9_])`);
const marked = new RegExp(`(?:\\[\\s*|level"?\\s*[=:]\\s*"?|<)(${names})(?:\\s*\\]|["\\s,>}]|$)`, "i");
const levelOrder = ["fatal", "error", "warn", "info", "debug", "trace"];

const times = [
  /\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?/,
  /\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d(?: [+-]\d{4})?/,
  /(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) {1,2}\d{1,2} \d\d:\d\d:\d\d/,
  /\b\d\d:\d\d:\d\d(?:[.,]\d{1,6})?/,
];
const timeAt = 60;
const lineMax = 400;
const patternsMax = 20_000;

/** Whether most lines contain levels, or at least start with times. */
export function looksLikeLog(start: string, by: "levels" | "times"): boolean {
  const lines = start.split("\n", 200).filter((line) => line.trim() !== "");
  if (lines.length < 3) return false;
  const timed = lines.filter((line) => findTime(line) !== undefined).length;
  if (by === "times") return timed >= 0.6 * lines.length;
  const levelled = lines.filter((line) => findLevel(line) !== undefined).length;
  return levelled >= 0.4 * lines.length && timed + levelled >= 0.6 * lines.length;
}

export function exploreLog(subject: ExploredText): string {
  const lines = splitLines(subject).filter((line) => line.trim() !== "");
  const levels = new Map<string, number>();
  const patterns = new Map<string, { times: number; line: string }>();
  const errors: string[] = [];
  let [first, last]: (string | undefined)[] = [];
  for (const line of lines) {
    const level = findLevel(line);
    if (level !== undefined) levels.set(level, (levels.get(level) ?? 0) + 1);
    const time = findTime(line);
    first ??= time;
    last = time ?? last;
    const pattern = normalise(line);
    const same = patterns.get(pattern);
    if (same !== undefined) same.times += 1;
    else if (patterns.size < patternsMax) {
      patterns.set(pattern, { times: 1, line });
      if (level === "error" || level === "fatal") errors.push(pattern);
    }
  }
  const sorted = [...patterns].filter(([, { times: seen }]) => seen > 1).sort((a, b) => b[1].times - a[1].times);
  const range = first === undefined || last === undefined ? [] : [first === last ? first : `${first} to ${last}`];
  const counts = levelOrder.flatMap((level) =>
    levels.has(level) ? `${level} ${formatNumber(levels.get(level) ?? 0)}` : [],
  );
  return formatSummary(`Log, ${formatCount(lines.length, "line")}, ${subject.extent}`, [
    { label: "Levels", items: counts, weight: 1 },
    { label: "Time", items: range, weight: 1.2 },
    {
      label: "Repeated",
      items: sorted.map(([pattern, { times: seen }]) => `×${formatNumber(seen)} ${truncateCharacters(pattern, 120)}`),
      separator: " | ",
      weight: 2,
    },
    { label: "Errors", items: errors.map((error) => truncateCharacters(error, 120)), separator: " | ", weight: 2 },
  ]);
}

function findLevel(line: string): string | undefined {
  const start = line.slice(0, lineMax);
  const found = (capitals.exec(start) ?? marked.exec(start))?.[1]?.toLowerCase();
  return found === undefined ? undefined : levelNames[found];
}

function findTime(line: string): string | undefined {
  const start = line.slice(0, timeAt);
  for (const pattern of times) {
    const time = pattern.exec(start)?.[0];
    if (time !== undefined) return time;
  }
  return undefined;
}

/** A line without its variable parts: times, ids, addresses and numbers. */
function normalise(line: string): string {
  let text = line.slice(0, lineMax);
  for (const pattern of times) text = text.replace(pattern, " ");
  return toSingleLine(
    text
      .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, "#")
      .replace(/\b(?:0x[0-9a-f]+|(?=[a-f]*\d)[0-9a-f]{8,})\b/gi, "#")
      .replace(/\d+/g, "#")
      .replace(/#(?:[.:]#)+/g, "#")
      .replace(/^[\s\]|:-]*(?:\[\s*\])?/, ""),
  );
}
