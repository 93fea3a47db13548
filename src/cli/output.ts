import { findLocalTimeZone } from "../config/index.ts";
import { escapeJson, formatStamp, showControls, toVarveError } from "../domain/index.ts";

/** Prints a command's output. With `--json`, standard output holds one JSON document and messages go to standard error. */
export interface Output {
  json: boolean;
  /** Prints the result as JSON; only with `--json`. */
  result(value: unknown): void;
  /** Prints a message; with `--json` on standard error. */
  say(text: string): void;
  /** Prints the result for people, such as a table; not with `--json`. */
  show(text: string): void;
}

export function outputFor(options: { json?: boolean }): Output {
  const json = options.json ?? false;
  return {
    json,
    result: (value) => {
      if (json) process.stdout.write(`${escapeJson(JSON.stringify(value, null, 2))}\n`);
    },
    say: (text) => (json ? process.stderr : process.stdout).write(`${showControls(text)}\n`),
    show: (text) => {
      if (!json) process.stdout.write(`${showControls(text)}\n`);
    },
  };
}

/** Prints an error and returns the exit code for it. */
export function reportError(error: unknown, json: boolean): number {
  const known = toVarveError(error);
  if (json) process.stdout.write(`${escapeJson(JSON.stringify(known.toJSON(), null, 2))}\n`);
  process.stderr.write(`varve: ${showControls(known.message)}\n`);
  if (known.remedy) process.stderr.write(`  → ${showControls(known.remedy)}\n`);
  if (known.code === "INTERNAL" && process.env.VARVE_LOG_LEVEL === "debug" && known.stack) {
    process.stderr.write(`${known.stack}\n`);
  }
  return known.exitCode;
}

/** Draws a table; columns that hold only numbers are right-aligned. */
export function table(headings: string[], rows: (string | number)[][]): string {
  const cells = [headings, ...rows.map((row) => row.map(String))];
  const widths = headings.map((_, column) => Math.max(...cells.map((row) => displayWidth(row[column] ?? ""))));
  const numeric = headings.map((_, column) => rows.length > 0 && rows.every((row) => typeof row[column] === "number"));
  return cells
    .map((row) =>
      row
        .map((cell, column) => {
          const padding = " ".repeat(Math.max(0, (widths[column] ?? 0) - displayWidth(cell)));
          return numeric[column] ? padding + cell : cell + padding;
        })
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += wide.test(character) ? 2 : 1;
  return width;
}

export function bytes(count: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = count;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

export function number(count: number): string {
  // Like `toLocaleString("en-US")`, whose data takes longer to load than a command that prints a count.
  if (!Number.isSafeInteger(count)) return count.toLocaleString("en-US");
  const digits = String(Math.abs(count));
  const groups: string[] = [];
  for (let end = digits.length; end > 0; end -= 3) groups.unshift(digits.slice(Math.max(0, end - 3), end));
  return `${count < 0 ? "-" : ""}${groups.join(",")}`;
}

/** A time with its zone, that of the machine unless another one is named. */
export function when(time: number, timeZone = findLocalTimeZone()): string {
  return formatStamp(time, timeZone);
}
