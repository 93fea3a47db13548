import { readFile, realpath, stat } from "node:fs/promises";
import { isAbsolute, join, normalize, sep } from "node:path";
import { VarveError } from "../../domain/index.ts";
import { below, type CorpusFolder, citedPath, isIncluded, notesName } from "./folders.ts";

export interface ReadRequest {
  /** The first line, from 1, and how many. All of them when absent. */
  from?: number;
  lines?: number;
}

/** Lines of a file as they are on disk now. */
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
 * Reads lines of a file inside one of the folders, by the path it is cited with, with or without lines, or by its full
 * path. What a link leads to counts, not where the link lies: nothing outside the folders is ever read.
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
  const file = await locate(folders, path);
  const { size } = await stat(file.absolute);
  if (size > bytesMax) {
    throw new VarveError("TOO_LARGE", `${file.path} is larger than ${bytesMax} bytes and is not read.`);
  }
  const lines = (await readFile(file.absolute, "utf8")).split(/\r\n?|\n/);
  if (lines.at(-1) === "" && lines.length > 1) lines.pop();
  const totalLines = lines.length;
  if (first > totalLines || first < 1) {
    throw new VarveError("BAD_REQUEST", `${file.path} has the lines 1 to ${totalLines}, not ${first}.`, {
      remedy: `Send from between 1 and ${totalLines}.`,
    });
  }
  const endLine = Math.min(totalLines, first + Math.max(1, count ?? totalLines) - 1);
  return { path: file.path, text: lines.slice(first - 1, endLine).join("\n"), startLine: first, endLine, totalLines };
}

async function locate(folders: readonly CorpusFolder[], path: string): Promise<{ path: string; absolute: string }> {
  if (path.includes("\u0000")) throw notThere(path, folders);
  let isOutside = false;
  for (const folder of folders) {
    const root = await realpath(folder.root).catch(() => undefined);
    const inside = pathBelow(folder, root, path);
    if (root === undefined || inside === undefined) continue;
    const absolute = await realpath(join(root, inside)).catch(() => undefined);
    if (absolute === undefined) continue;
    const real = below(root, absolute);
    if (real === undefined || !isIncluded(folder, real)) isOutside = true;
    else if ((await stat(absolute)).isFile()) return { path: citedPath(folder, real), absolute };
  }
  if (isOutside || path.split(/[\\/]/).includes("..")) {
    throw new VarveError("REFUSED", `${path} is outside of what may be read.`, { remedy: remedyFor(folders) });
  }
  throw notThere(path, folders);
}

/** The path as the folder would have it: cut off its name, or the folder's own place. */
function pathBelow(folder: CorpusFolder, root: string | undefined, path: string): string | undefined {
  if (isAbsolute(path)) return below(folder.root, path) ?? (root === undefined ? undefined : below(root, path));
  const flat = normalize(path).replaceAll(sep, "/");
  if (folder.name === notesName) return flat;
  return flat.startsWith(`${folder.name}/`) ? flat.slice(folder.name.length + 1) : undefined;
}

function notThere(path: string, folders: readonly CorpusFolder[]): VarveError {
  return new VarveError("NOT_FOUND", `There is no file ${JSON.stringify(path)} in the corpus.`, {
    remedy: remedyFor(folders),
  });
}

function remedyFor(folders: readonly CorpusFolder[]): string {
  if (folders.length === 0) return "No folder may be read here: search.workspace and search.corpus name them.";
  const names = folders.map(({ name }) => (name === notesName ? "MEMORY.md, memory/….md" : `${name}/…`));
  return `Send a path as memory_search cites it: ${names.join(", ")}.`;
}
