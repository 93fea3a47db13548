import { closeSync, lstatSync, openSync, readdirSync, readSync, realpathSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { VarveError } from "../../domain/index.ts";

const importable = /\.jsonl$|^conversations\.json$/i;
const depthMax = 32;

/** Resolves paths to files: a folder stands for every transcript below it. Links to folders are not followed. */
export function findFiles(paths: string[]): string[] {
  const found = new Set<string>();
  for (const path of paths) {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat) {
      throw new VarveError("FILE_NOT_FOUND", `${path} does not exist.`, {
        remedy: "Check the path. Claude Code's transcripts are usually in ~/.claude/projects.",
      });
    }
    if (stat.isDirectory()) walk(path, 0, found);
    else if (stat.isFile()) found.add(realpathSync(path));
    else {
      // Reading a pipe or a device could block for ever.
      throw new VarveError("BAD_FILE", `${path} is not a regular file.`, { remedy: "Name a file or a folder." });
    }
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
const scanBytes = 4 * 1024 * 1024;
/** A longer first line is judged by its beginning and by the following lines. */
const wholeLineBytes = 32 * 1024 * 1024;
const recordsMax = 20;
const recordLength = 64 * 1024;

/**
 * The first records of a file, to detect its format. A first line longer than the head is read in full, or truncated if
 * it is huge.
 */
export function readFirstRecords(file: string): string[] {
  const handle = openSync(file, "r");
  try {
    const head = readText(handle, 0, headBytes).replace(/^\ufeff/, "");
    if (head.includes("\n") || head.length === 0) return splitRecords(head);
    const end = findLineEnd(handle, headBytes);
    const first = end <= wholeLineBytes ? readText(handle, 0, end).replace(/^\ufeff/, "") : head.slice(0, recordLength);
    return [first, ...splitRecords(readText(handle, end + 1, headBytes))];
  } finally {
    closeSync(handle);
  }
}

function splitRecords(text: string): string[] {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .slice(0, recordsMax)
    .map((line) => line.slice(0, recordLength));
}

/** The end of the line at a position, or the end of the file. */
function findLineEnd(handle: number, from: number): number {
  const buffer = Buffer.alloc(scanBytes);
  for (let at = from; ; at += scanBytes) {
    const read = readSync(handle, buffer, 0, scanBytes, at);
    const found = buffer.subarray(0, read).indexOf(0x0a);
    if (found !== -1) return at + found;
    if (read < scanBytes) return at + read;
  }
}

function readText(handle: number, from: number, length: number): string {
  const buffer = Buffer.alloc(length);
  return buffer.subarray(0, readSync(handle, buffer, 0, length, from)).toString("utf8");
}
