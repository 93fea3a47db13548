import { readdir, stat } from "node:fs/promises";
import { isAbsolute, join, matchesGlob, relative, sep } from "node:path";

/** A folder whose files are searched. */
export interface CorpusFolder {
  agent: string;
  /** `memory` for the notes of a workspace; else the first part of its paths. */
  name: string;
  /** An absolute path. */
  root: string;
  /** Which files below it, as globs. */
  include: readonly string[];
  /** Where to look for them, when not everywhere below it. */
  entries?: readonly string[];
}

export const notesName = "memory";
export const includeDefault: readonly string[] = ["**/*.md", "**/*.markdown", "**/*.txt"];

/** The notes of a workspace: one file of what lasts, and a folder of the others. */
export function notesFolder(agent: string, root: string): CorpusFolder {
  return {
    agent,
    name: notesName,
    root,
    include: ["MEMORY.md", "memory/**/*.md"],
    entries: ["MEMORY.md", "memory"],
  };
}

/** How a file is cited. Notes are named as their writer knows them; other folders come first in their paths. */
export function citedPath(folder: CorpusFolder, below: string): string {
  return folder.name === notesName ? below : `${folder.name}/${below}`;
}

/** Whether a path below a folder is one that is searched: inside, not hidden, and of the right name. */
export function isIncluded(folder: CorpusFolder, below: string): boolean {
  const parts = below.split("/");
  if (parts.some((part) => isSkipped(part))) return false;
  return folder.include.some((glob) => matchesGlob(below, glob));
}

/** Hidden files and what was installed are nobody's notes; `..` begins with a dot too. */
export function isSkipped(part: string): boolean {
  return part === "" || part.startsWith(".") || part === "node_modules";
}

/** The path of a file below a folder with forward slashes; undefined when it is not below it. */
export function below(root: string, file: string): string | undefined {
  const path = relative(root, file);
  if (path === "" || path === ".." || path.startsWith(`..${sep}`) || isAbsolute(path)) return undefined;
  return sep === "/" ? path : path.replaceAll(sep, "/");
}

/** A file as the disk lists it. */
export interface ListedFile {
  below: string;
  size: number;
  mtimeUs: number;
}

export interface Listing {
  files: ListedFile[];
  /** False when something could not be read: what is missing may still be there. */
  whole: boolean;
  notes: string[];
}

export const filesMax = 20_000;
/** Notes are written by hand; a larger file is a dump, and cutting it would hold everything else up. */
const fileBytesMax = 1024 * 1024;

/** The files of a folder in order of their paths. Links are not followed: they may lead anywhere. */
export async function listFiles(folder: CorpusFolder, signal?: AbortSignal): Promise<Listing> {
  const listing: Listing = { files: [], whole: true, notes: [] };
  try {
    if (!(await stat(folder.root)).isDirectory()) throw new Error("it is not a folder");
  } catch (error) {
    const notes = [`${folder.name}: the folder ${folder.root} cannot be read (${describeFileError(error)})`];
    return { ...listing, whole: false, notes };
  }
  await listInto(listing, folder, "", signal);
  listing.files.sort((a, b) => (a.below < b.below ? -1 : 1));
  return listing;
}

async function listInto(listing: Listing, folder: CorpusFolder, at: string, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  const entries = await readdir(join(folder.root, at), { withFileTypes: true }).catch((error: unknown) => {
    listing.whole = false;
    listing.notes.push(`${citedPath(folder, at) || folder.name} cannot be read (${describeFileError(error)})`);
    return [];
  });
  for (const entry of entries) {
    const path = at === "" ? entry.name : `${at}/${entry.name}`;
    if (isSkipped(entry.name)) continue;
    if (at === "" && folder.entries && !folder.entries.includes(entry.name)) continue;
    if (entry.isDirectory()) await listInto(listing, folder, path, signal);
    else if (entry.isSymbolicLink() && (isIncluded(folder, path) || folder.entries)) {
      listing.notes.push(`${citedPath(folder, path)} is a link and is not followed`);
    } else if (entry.isFile() && isIncluded(folder, path)) await listFile(listing, folder, path);
  }
}

async function listFile(listing: Listing, folder: CorpusFolder, path: string): Promise<void> {
  if (listing.files.length >= filesMax) {
    if (listing.whole) listing.notes.push(`${folder.name} has more than ${filesMax} files; the rest is not searched`);
    listing.whole = false;
    return;
  }
  try {
    const { size, mtimeMs } = await stat(join(folder.root, path));
    if (size > fileBytesMax) listing.notes.push(`${citedPath(folder, path)} is larger than ${fileBytesMax} bytes`);
    else listing.files.push({ below: path, size, mtimeUs: Math.round(mtimeMs * 1_000) });
  } catch (error) {
    // It went away between two looks, or may not be read; in both cases it is not searched.
    listing.notes.push(`${citedPath(folder, path)} cannot be read (${describeFileError(error)})`);
  }
}

export function describeFileError(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : undefined;
  return code ?? (error instanceof Error ? error.message : String(error));
}
