import { closeSync, lstatSync, openSync, readdirSync, readSync, realpathSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { VarveError } from "../../domain/index.ts";

const importable = /\.jsonl$|^conversations\.json$/i;
const depthMax = 32;

/** The files that paths name: a file is itself, a folder is every transcript below it. Links to folders are not followed. */
export function findFiles(paths: string[]): string[] {
  const found = new Set<string>();
  for (const path of paths) {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat) {
      throw new VarveError("FILE_NOT_FOUND", `There is nothing at ${path}.`, {
        remedy: "Check the path; for Claude Code it is usually ~/.claude/projects.",
      });
    }
    if (stat.isDirectory()) walk(path, 0, found);
    else found.add(realpathSync(path));
  }
  return [...found].sort();
}

function walk(folder: string, depth: number, found: Set<string>): void {
  if (depth > depthMax) return;
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name);
    const stat = lstatSync(path);
    if (stat.isDirectory()) walk(path, depth + 1, found);
    else if (stat.isFile() && importable.test(basename(name))) found.add(realpathSync(path));
  }
}

const headBytes = 256 * 1024;

/** The first records of a file, for telling its format: the start of an array counts as one. */
export function headRecords(file: string): string[] {
  const handle = openSync(file, "r");
  try {
    const buffer = Buffer.alloc(headBytes);
    const text = buffer
      .subarray(0, readSync(handle, buffer, 0, headBytes, 0))
      .toString("utf8")
      .replace(/^\ufeff/, "");
    return text
      .split("\n")
      .filter((line) => line.trim() !== "")
      .slice(0, 20)
      .map((line) => line.slice(0, 64 * 1024));
  } finally {
    closeSync(handle);
  }
}
