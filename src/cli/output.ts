import { toVarveError } from "../domain/index.ts";

/** Where a command's words go. With `--json` the answer is one document on standard output and words go aside. */
export interface Output {
  json: boolean;
  /** The answer, for programs; printed only with `--json`. */
  result(value: unknown): void;
  /** Words for people. */
  say(text: string): void;
  /** The answer for people, such as a table; left out with `--json`. */
  show(text: string): void;
}

export function outputFor(options: { json?: boolean }): Output {
  const json = options.json ?? false;
  return {
    json,
    result: (value) => {
      if (json) process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
    },
    say: (text) => (json ? process.stderr : process.stdout).write(`${text}\n`),
    show: (text) => {
      if (!json) process.stdout.write(`${text}\n`);
    },
  };
}

/** Reports a failure the same way everywhere and gives the exit code. */
export function reportError(error: unknown, json: boolean): number {
  const known = toVarveError(error);
  if (json) process.stdout.write(`${JSON.stringify(known.toJSON(), null, 2)}\n`);
  process.stderr.write(`varve: ${known.message}\n`);
  if (known.remedy) process.stderr.write(`  → ${known.remedy}\n`);
  if (known.code === "INTERNAL" && process.env.VARVE_LOG_LEVEL === "debug" && known.stack) {
    process.stderr.write(`${known.stack}\n`);
  }
  return known.exitCode;
}

/** Rows under headings, each column as wide as its widest cell. */
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
  return count.toLocaleString("en-US");
}

export function when(time: number): string {
  return new Date(time).toISOString().slice(0, 16).replace("T", " ");
}
