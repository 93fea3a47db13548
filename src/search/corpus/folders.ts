import { readdir, stat } from "node:fs/promises";
import { isAbsolute, join, matchesGlob, relative, sep } from "node:path";

/** A folder whose files are searched. */
export interface CorpusFolder {
  agent: string;
  /** `memory` for the notes of a workspace; otherwise the first segment of its paths. */
  name: string;
  /** An absolute path. */
  root: string;
  /** Globs of the files to include. */
  include: readonly string[];
  /** Restricts the listing to these files and folders. */
  entries?: readonly string[];
}

export const notesName = "memory";
export const includeDefault: readonly string[] = ["**/*.md", "**/*.markdown", "**/*.txt"];

/** The notes of a workspace: `MEMORY.md` and the folder `memory`. */
export function createNotesFolder(agent: string, root: string): CorpusFolder {
  return {
    agent,
    name: notesName,
    root,
    include: ["MEMORY.md", "memory/**/*.md"],
    entries: ["MEMORY.md", "memory"],
  };
}

/** The path by which a file is cited. Notes are cited relative to the workspace, other files with their folder's name. */
export function formatCitedPath(folder: CorpusFolder, relativePath: string): string {
  return folder.name === notesName ? relativePath : `${folder.name}/${relativePath}`;
}

/** Whether a relative path is searched: inside the folder, not hidden, and matching its globs. */
export function isIncluded(folder: CorpusFolder, relativePath: string): boolean {
  const parts = relativePath.split("/");
  if (parts.some((part) => isSkipped(part))) return false;
  return folder.include.some((glob) => matchesGlob(relativePath, glob));
}

/** Skips hidden files and installed packages; this also rejects `..`. */
export function isSkipped(part: string): boolean {
  return part === "" || part.startsWith(".") || part === "node_modules";
}

/** The path relative to a folder, with forward slashes; undefined for a file outside of it. */
export function getRelativePath(root: string, file: string): string | undefined {
  const path = relative(root, file);
  if (path === "" || path === ".." || path.startsWith(`..${sep}`) || isAbsolute(path)) return undefined;
  return sep === "/" ? path : path.replaceAll(sep, "/");
}

/** A file found on disk. */
export interface ListedFile {
  relativePath: string;
  size: number;
  mtimeUs: number;
}

export interface Listing {
  files: ListedFile[];
  /** False when something could not be read: then an unlisted file may still exist. */
  whole: boolean;
  notes: string[];
}

const filesMax = 20_000;
/** Larger files are skipped: they are rarely notes, and chunking them would delay all others. */
const fileBytesMax = 1024 * 1024;

/** Lists the files of a folder, ordered by path. Symbolic links are not followed: they may lead out of the folder. */
export async function listFiles(folder: CorpusFolder, signal?: AbortSignal): Promise<Listing> {
  const listing: Listing = { files: [], whole: true, notes: [] };
  try {
    if (!(await stat(folder.root)).isDirectory()) throw new Error("not a folder");
  } catch (error) {
    const notes = [`${folder.name}: the folder ${folder.root} cannot be read (${describeFileError(error)})`];
    return { ...listing, whole: false, notes };
  }
  await listFolder(listing, folder, "", signal);
  listing.files.sort((a, b) => (a.relativePath < b.relativePath ? -1 : 1));
  return listing;
}

async function listFolder(listing: Listing, folder: CorpusFolder, at: string, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  const entries = await readdir(join(folder.root, at), { withFileTypes: true }).catch((error: unknown) => {
    listing.whole = false;
    listing.notes.push(`${formatCitedPath(folder, at) || folder.name} cannot be read (${describeFileError(error)})`);
    return [];
  });
  for (const entry of entries) {
    const path = at === "" ? entry.name : `${at}/${entry.name}`;
    if (isSkipped(entry.name)) continue;
    if (at === "" && folder.entries && !folder.entries.includes(entry.name)) continue;
    if (entry.isDirectory()) await listFolder(listing, folder, path, signal);
    else if (entry.isSymbolicLink() && (isIncluded(folder, path) || folder.entries)) {
      listing.notes.push(`${formatCitedPath(folder, path)} is a symbolic link and is not followed`);
    } else if (entry.isFile() && isIncluded(folder, path)) await addFile(listing, folder, path);
  }
}

async function addFile(listing: Listing, folder: CorpusFolder, path: string): Promise<void> {
  if (listing.files.length >= filesMax) {
    if (listing.whole)
      listing.notes.push(`${folder.name} has more than ${filesMax} files; the others are not searched`);
    listing.whole = false;
    return;
  }
  try {
    const { size, mtimeMs } = await stat(join(folder.root, path));
    if (size > fileBytesMax)
      listing.notes.push(`${formatCitedPath(folder, path)} is larger than ${fileBytesMax} bytes and is not searched`);
    else listing.files.push({ relativePath: path, size, mtimeUs: Math.round(mtimeMs * 1_000) });
  } catch (error) {
    // The file was removed since it was listed, or is not readable.
    listing.notes.push(`${formatCitedPath(folder, path)} cannot be read (${describeFileError(error)})`);
  }
}

export function describeFileError(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : undefined;
  return code ?? (error instanceof Error ? error.message : String(error));
}
