import { createHash } from "node:crypto";
import { readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Schema, Store, StoreTransaction } from "../../store/index.ts";
import { type ChunkOptions, chunkMarkdown } from "./chunk.ts";
import {
  type CorpusFolder,
  describeFileError,
  formatCitedPath,
  getRelativePath,
  type ListedFile,
  listFiles,
} from "./folders.ts";

export interface SyncOptions {
  signal?: AbortSignal;
  /** Stop after this many milliseconds; the next call continues from there. */
  msMax?: number;
}

export interface SyncResult {
  status: "done" | "stopped";
  /** The number of files, and of their changes since the last call. */
  files: number;
  added: number;
  changed: number;
  renamed: number;
  removed: number;
  /** Files that were not read, and why. */
  notes: string[];
}

type FileRow = Schema["corpus_files"];

interface CorpusFile extends ListedFile {
  folder: CorpusFolder;
  path: string;
}

const rowsAtOnce = 50;
/** A file read this soon after its modification is read again: another write may have the same modification time. */
const unsettledMs = 2_000;

/**
 * Updates the corpus tables from the files on disk, in one short transaction for each file. Vectors are keyed by
 * content, so unchanged and moved chunks keep theirs. After a crash the next call continues from the last file.
 */
export async function syncCorpus(
  store: Store,
  folders: readonly CorpusFolder[],
  chunks: ChunkOptions,
  options: SyncOptions = {},
): Promise<SyncResult> {
  const result: SyncResult = { status: "done", files: 0, added: 0, changed: 0, renamed: 0, removed: 0, notes: [] };
  const until = options.msMax === undefined ? Number.POSITIVE_INFINITY : performance.now() + options.msMax;
  const known = new Map((await loadFileRows(store)).map((row) => [makeKey(row.agent, row.path), row]));
  const found: CorpusFile[] = [];
  /** Folders that could not be listed completely: their missing files are not removed. */
  const unsure = new Set<string>();
  for (const folder of folders) {
    const listing = await listFiles(folder, options.signal);
    result.notes.push(...listing.notes);
    if (!listing.whole) unsure.add(makeKey(folder.agent, folder.name));
    for (const file of listing.files) found.push({ ...file, folder, path: formatCitedPath(folder, file.relativePath) });
  }
  result.files = found.length;
  const present = new Set(found.map(({ folder, path }) => makeKey(folder.agent, path)));
  const gone = new Map(
    [...known].filter(([key, row]) => !present.has(key) && !unsure.has(makeKey(row.agent, row.corpus))),
  );
  /** A new file with the same content as a missing one was renamed. */
  const movable = new Map([...gone.values()].map((row) => [makeKey(row.agent, row.hash), row]));
  const touched = new Set<string>();
  for (const file of found) {
    if (options.signal?.aborted || performance.now() >= until) return { ...result, status: "stopped" };
    const { agent } = file.folder;
    const row = known.get(makeKey(agent, file.path));
    if (row && isSettled(row, file, formatChunkSize(chunks))) continue;
    const text = await readText(file, result.notes);
    if (text === undefined) {
      if (row) gone.set(makeKey(agent, file.path), row);
      continue;
    }
    const hash = `${formatChunkSize(chunks)}:${sha256(text)}`;
    const next = toFileRow(file, hash, store.clock.now());
    const old = row ? undefined : movable.get(makeKey(agent, hash));
    if (row?.hash === hash || old) await moveFile(store, old ?? row ?? next, next);
    else await writeFile(store, next, text, chunks);
    if (old) {
      gone.delete(makeKey(agent, old.path));
      movable.delete(makeKey(agent, hash));
    }
    if (old) result.renamed += 1;
    else if (!row) result.added += 1;
    else if (row.hash !== hash) result.changed += 1;
    if (!old && row?.hash !== hash) touched.add(agent);
  }
  for (const row of gone.values()) {
    await removeFile(store, row);
    result.removed += 1;
    touched.add(row.agent);
  }
  for (const agent of touched) await removeUnusedVectors(store, agent);
  return result;
}

function loadFileRows(store: Store): Promise<FileRow[]> {
  return store.db.selectFrom("corpus_files").selectAll().execute();
}

function isSettled(row: FileRow, file: ListedFile, shape: string): boolean {
  const same = row.mtime_us === file.mtimeUs && row.size === file.size && row.hash.startsWith(`${shape}:`);
  return same && row.read_at - row.mtime_us / 1_000 > unsettledMs;
}

/** Part of a file's hash, so that a change of the chunk size rebuilds the chunks. */
function formatChunkSize({ tokens, overlap }: ChunkOptions): string {
  return `${tokens}-${overlap}`;
}

async function readText(file: CorpusFile, notes: string[]): Promise<string | undefined> {
  try {
    // A folder may have been replaced by a symbolic link since it was listed.
    const real = await realpath(join(file.folder.root, file.relativePath));
    if (getRelativePath(await realpath(file.folder.root), real) === undefined) {
      notes.push(`${file.path} leads out of its folder through a symbolic link and is not read`);
      return undefined;
    }
    const text = await readFile(real, "utf8");
    if (!text.includes("\u0000")) return text;
    notes.push(`${file.path} is not a text file and is not read`);
  } catch (error) {
    notes.push(`${file.path} cannot be read (${describeFileError(error)})`);
  }
  return undefined;
}

function toFileRow({ folder, path, size, mtimeUs }: CorpusFile, hash: string, now: number): FileRow {
  const { agent, name } = folder;
  const time = parseDateInPath(path) ?? Math.floor(mtimeUs / 1_000);
  return { agent, corpus: name, path, hash, mtime_us: mtimeUs, size, time, read_at: now };
}

/** The date in a file name such as `memory/2026-01-15.md`; undefined without one. */
export function parseDateInPath(path: string): number | undefined {
  const day = /(?<!\d)(\d{4}-\d\d-\d\d)(?!\d)/.exec(path.slice(path.lastIndexOf("/") + 1))?.[1];
  const time = day === undefined ? Number.NaN : Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(time) ? undefined : time;
}

async function writeFile(store: Store, file: FileRow, text: string, options: ChunkOptions): Promise<void> {
  const { agent, path, corpus, time } = file;
  const rows = chunkMarkdown(text, options)
    .filter((chunk) => chunk.text.trim() !== "")
    .map((chunk) => ({
      agent,
      path,
      start_line: chunk.start,
      end_line: chunk.end,
      part: chunk.part,
      corpus,
      hash: sha256(`${chunk.heading}\n${chunk.text}`).slice(0, 32),
      heading: chunk.heading,
      text: chunk.text,
      tokens: chunk.tokens,
      time,
    }));
  await changeCorpus(store, agent, async ({ db }) => {
    await db.deleteFrom("corpus_chunks").where("agent", "=", agent).where("path", "=", path).execute();
    for (let at = 0; at < rows.length; at += rowsAtOnce) {
      await db
        .insertInto("corpus_chunks")
        .values(rows.slice(at, at + rowsAtOnce))
        .execute();
    }
    await upsertFile(db, file);
  });
}

/** Updates the name and time of a file whose content is unchanged. */
async function moveFile(store: Store, from: FileRow, to: FileRow): Promise<void> {
  const { agent, path, corpus, time } = to;
  await changeCorpus(store, agent, async ({ db }) => {
    if (from.path !== path) {
      for (const table of ["corpus_chunks", "corpus_files"] as const) {
        await db.deleteFrom(table).where("agent", "=", agent).where("path", "=", path).execute();
      }
      await db.deleteFrom("corpus_files").where("agent", "=", agent).where("path", "=", from.path).execute();
    }
    await db
      .updateTable("corpus_chunks")
      .set({ path, corpus, time })
      .where("agent", "=", agent)
      .where("path", "=", from.path)
      .execute();
    await upsertFile(db, to);
  });
}

async function removeFile(store: Store, { agent, path }: FileRow): Promise<void> {
  await changeCorpus(store, agent, async ({ db }) => {
    for (const table of ["corpus_chunks", "corpus_files"] as const) {
      await db.deleteFrom(table).where("agent", "=", agent).where("path", "=", path).execute();
    }
  });
}

async function removeUnusedVectors(store: Store, agent: string): Promise<void> {
  await changeCorpus(store, agent, async ({ db }) => {
    await db
      .deleteFrom("document_vectors")
      .where("agent", "=", agent)
      .where("kind", "=", "chunk")
      .where("id", "not in", (eb) =>
        eb.selectFrom("corpus_chunks").select("corpus_chunks.hash").where("corpus_chunks.agent", "=", agent),
      )
      .execute();
  });
}

async function upsertFile(db: StoreTransaction["db"], file: FileRow): Promise<void> {
  const { agent: _agent, path: _path, ...changed } = file;
  await db
    .insertInto("corpus_files")
    .values(file)
    .onConflict((conflict) => conflict.columns(["agent", "path"]).doUpdateSet(changed))
    .execute();
}

/** Runs a change under the corpus lock and increments the revision in the same transaction. */
async function changeCorpus(store: Store, agent: string, work: (tx: StoreTransaction) => Promise<void>): Promise<void> {
  await store.transaction(async (tx) => {
    await tx.lock(`corpus ${agent}`);
    await work(tx);
    const updated_at = store.clock.now();
    await tx.db
      .insertInto("corpus_states")
      .values({ agent, revision: 1, updated_at })
      .onConflict((conflict) =>
        conflict.column("agent").doUpdateSet((eb) => ({ revision: eb("corpus_states.revision", "+", 1), updated_at })),
      )
      .execute();
  });
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function makeKey(agent: string, name: string): string {
  return `${agent}\n${name}`;
}
