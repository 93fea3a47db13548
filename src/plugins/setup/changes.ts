/** Shows and applies the file changes of a setup; each file is written atomically. */
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { writeAtomically } from "../../config/index.ts";

export interface FileChange {
  path: string;
  /** Undefined if the file does not exist. */
  before?: string;
  /** Undefined if the file is removed. */
  after?: string;
  /** Whether the whole file is Varve's, so that its removal needs no backup. */
  own?: boolean;
}

const contextLines = 3;

export function readFileIfExists(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

/** Prints the changes as a diff with a few lines of context. */
export function printDiff(changes: readonly FileChange[]): string {
  return changes.map(printChange).join("\n\n");
}

function printChange({ path, before, after }: FileChange): string {
  const old = splitLines(before);
  const now = splitLines(after);
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  const from = Math.max(0, head - contextLines);
  const around = (lines: string[]): string[] => lines.map((line) => `  ${line}`);
  return [
    `--- ${before === undefined ? "(no file)" : path}`,
    `+++ ${after === undefined ? "(removed)" : path}`,
    `@@ line ${from + 1} @@`,
    ...around(old.slice(from, head)),
    ...old.slice(head, old.length - tail).map((line) => `- ${line}`),
    ...now.slice(head, now.length - tail).map((line) => `+ ${line}`),
    ...around(old.slice(old.length - tail, old.length - tail + contextLines)),
  ].join("\n");
}

function splitLines(text: string | undefined): string[] {
  if (text === undefined || text === "") return [];
  return text.replace(/\n$/, "").split("\n");
}

/** Applies the changes; backs up files that are replaced or removed, and returns the paths of the backups. */
export function applyChanges(changes: readonly FileChange[], backupFolder: string, now: number): string[] {
  const backups: string[] = [];
  const stamp = new Date(now).toISOString().replaceAll(/[:.]/g, "-");
  for (const { path, before, after, own } of changes) {
    if (before !== undefined && !(own && after === undefined)) {
      mkdirSync(backupFolder, { recursive: true, mode: 0o700 });
      const backup = join(backupFolder, `${stamp}-${backups.length}-${basename(path)}`);
      copyFileSync(path, backup);
      backups.push(backup);
    }
    if (after === undefined) {
      rmSync(path, { force: true });
      continue;
    }
    const mode = before === undefined ? undefined : statSync(path).mode & 0o777;
    writeAtomically(path, after);
    if (mode !== undefined) chmodSync(path, mode);
  }
  return backups;
}

/** Removes empty folders, innermost first, up to but not including the folder `stays`. */
export function removeEmptyFolders(files: readonly string[], stays: string): void {
  const folders = new Set(files.map((file) => dirname(file)));
  for (const start of folders) {
    for (let folder = start; folder.length > stays.length; folder = dirname(folder)) {
      try {
        rmdirSync(folder);
      } catch (error) {
        if (error instanceof Error && "code" in error && (error.code === "ENOTEMPTY" || error.code === "ENOENT")) break;
        throw error;
      }
    }
  }
}
