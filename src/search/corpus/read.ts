import { readFile, realpath, stat } from "node:fs/promises";
import { isAbsolute, join, normalize, sep } from "node:path";
import { VarveError } from "../../domain/index.ts";
import { type CorpusFolder, formatCitedPath, getRelativePath, isIncluded, notesName } from "./folders.ts";

export interface ReadRequest {
  /** The first line, from 1, and the number of lines; the whole file when absent. */
  from?: number;
  lines?: number;
}

/** Lines of a file, read from disk. */
export interface CorpusText {
  path: string;
  text: string;
  startLine: number;
  endLine: number;
  totalLines: number;
}

const bytesMax = 16 * 1024 * 1024;
const citation = /#L(\d{1,9})(?:-L?(\d{1,9}))?(?:\.\d{1,6})?$/;

/**
 * Reads lines of a file in one of the folders, by its citation, with or without line numbers, or by its absolute path.
 * Symbolic links are resolved before the check: nothing outside the folders is ever read.
 */
export async function readCorpus(
  folders: readonly CorpusFolder[],
  asked: string,
  request: ReadRequest = {},
): Promise<CorpusText> {
  const cited = citation.exec(asked);
  const path = cited ? asked.slice(0, cited.index) : asked;
  const first = request.from ?? (cited ? Number(cited[1]) : 1);
  const citedLines = cited ? Number(cited[2] ?? cited[1]) - Number(cited[1]) + 1 : undefined;
  const count = request.lines ?? (request.from === undefined ? citedLines : undefined);
  const file = await locateFile(folders, path);
  const { size } = await stat(file.absolute);
  if (size > bytesMax) {
    throw new VarveError("TOO_LARGE", `${file.path} is larger than the limit of ${bytesMax} bytes.`);
  }
  const lines = (await readFile(file.absolute, "utf8")).split(/\r\n?|\n/);
  if (lines.at(-1) === "" && lines.length > 1) lines.pop();
  const totalLines = lines.length;
  if (first > totalLines || first < 1) {
    throw new VarveError("BAD_REQUEST", `${file.path} has no line ${first}: it has ${totalLines} lines.`, {
      remedy: `Set "from" to a line between 1 and ${totalLines}.`,
    });
  }
  const endLine = Math.min(totalLines, first + Math.max(1, count ?? totalLines) - 1);
  return { path: file.path, text: lines.slice(first - 1, endLine).join("\n"), startLine: first, endLine, totalLines };
}

async function locateFile(folders: readonly CorpusFolder[], path: string): Promise<{ path: string; absolute: string }> {
  if (path.includes("\u0000")) throw createNotFoundError(path, folders);
  let isOutside = false;
  for (const folder of folders) {
    const root = await realpath(folder.root).catch(() => undefined);
    const inside = resolvePathInFolder(folder, root, path);
    if (root === undefined || inside === undefined) continue;
    const absolute = await realpath(join(root, inside)).catch(() => undefined);
    if (absolute === undefined) continue;
    const real = getRelativePath(root, absolute);
    if (real === undefined || !isIncluded(folder, real)) isOutside = true;
    else if ((await stat(absolute)).isFile()) return { path: formatCitedPath(folder, real), absolute };
  }
  if (isOutside || path.split(/[\\/]/).includes("..")) {
    throw new VarveError("REFUSED", `${path} is outside of the folders that may be read.`, {
      remedy: describeReadablePaths(folders),
    });
  }
  throw createNotFoundError(path, folders);
}

/** The path relative to a folder, for a cited or absolute path; undefined when it belongs to another folder. */
function resolvePathInFolder(folder: CorpusFolder, root: string | undefined, path: string): string | undefined {
  if (isAbsolute(path))
    return getRelativePath(folder.root, path) ?? (root === undefined ? undefined : getRelativePath(root, path));
  const flat = normalize(path).replaceAll(sep, "/");
  if (folder.name === notesName) return flat;
  return flat.startsWith(`${folder.name}/`) ? flat.slice(folder.name.length + 1) : undefined;
}

function createNotFoundError(path: string, folders: readonly CorpusFolder[]): VarveError {
  return new VarveError("NOT_FOUND", `There is no file ${JSON.stringify(path)} in the corpus.`, {
    remedy: describeReadablePaths(folders),
  });
}

function describeReadablePaths(folders: readonly CorpusFolder[]): string {
  if (folders.length === 0) return "No folders are configured for this agent: set search.workspace or search.corpus.";
  const names = folders.map(({ name }) => (name === notesName ? "MEMORY.md, memory/….md" : `${name}/…`));
  return `Use a path from a citation of memory_search: ${names.join(", ")}.`;
}
