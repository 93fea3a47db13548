import { neutralise, VarveError } from "../../domain/index.ts";
import type { Db, FileRow, Store } from "../../store/index.ts";

export type FileMetadata = Omit<FileRow, "content">;

/** The text that replaces the content in the context: what it is, how to read it, and a summary. */
export function formatFileReference(file: FileMetadata): string {
  const facts = [
    ...(file.name === null ? [] : [quoteName(file.name)]),
    ...(file.mediaType === null ? [] : [quoteName(file.mediaType)]),
    file.kind,
    `${file.bytes} bytes`,
    `${file.lines} ${file.lines === 1 ? "line" : "lines"}`,
    `about ${file.tokens} tokens`,
  ].join(", ");
  return `[Large content ${file.id}: ${facts}. It is stored whole; read it with lcm_describe, by line range.]\n${file.summary}\n[End of ${file.id}]`;
}

const nameMax = 300;

/** A name from outside on one line: it can end neither the reference nor pass for anything else. */
function quoteName(name: string): string {
  const line = neutralise(name.slice(0, nameMax).toWellFormed()).replace(/[\s[\]]+/g, " ");
  return name.length > nameMax ? `${line}…` : line;
}

const heads = ["id", "name", "media_type as mediaType", "kind", "summary", "bytes", "lines", "tokens"] as const;

/** A description of a file by a model, in addition to the one computed without a model. */
export interface ModelSummary {
  text: string;
  model: string | null;
}
const idsAtOnce = 500;

/** Reads the metadata of files, without their content. */
export async function readFileMetadata(db: Db, agent: string, ids: string[]): Promise<Map<string, FileMetadata>> {
  const found = new Map<string, FileMetadata>();
  for (let from = 0; from < ids.length; from += idsAtOnce) {
    const rows = await db
      .selectFrom("files")
      .select(heads)
      .where("agent", "=", agent)
      .where("id", "in", ids.slice(from, from + idsAtOnce))
      .execute();
    for (const row of rows) found.set(row.id, row);
  }
  return found;
}

/** Reads the content of files, byte for byte. */
export async function readFileContents(db: Db, agent: string, ids: string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const id of ids) {
    const row = await db
      .selectFrom("files")
      .select("content")
      .where("agent", "=", agent)
      .where("id", "=", id)
      .executeTakeFirst();
    if (row) found.set(id, JSON.parse(row.content) as string);
  }
  return found;
}

export interface StoredFile extends FileMetadata {
  /** The entries that reference it. */
  entries: { conversation: number; seq: number }[];
  byModel?: ModelSummary;
}

export async function findFile(store: Store, agent: string, id: string): Promise<StoredFile> {
  const file = (await readFileMetadata(store.db, agent, [id])).get(id);
  if (!file) {
    throw new VarveError("FILE_NOT_FOUND", `There is no file ${id}.`, {
      remedy: "Take the id from a reference in the context, a summary or a search result.",
    });
  }
  const entries = await store.db
    .selectFrom("file_refs")
    .select(["conversation", "seq"])
    .where("agent", "=", agent)
    .where("file", "=", id)
    .orderBy("seq")
    .limit(100)
    .execute();
  const described = await store.db
    .selectFrom("files")
    .select(["model_summary", "model"])
    .where("agent", "=", agent)
    .where("id", "=", id)
    .executeTakeFirst();
  const text = described?.model_summary ?? undefined;
  return { ...file, entries, ...(text === undefined ? {} : { byModel: { text, model: described?.model ?? null } }) };
}

/** Stores a model's description of a file. */
export async function saveModelSummary(store: Store, agent: string, id: string, note: ModelSummary): Promise<void> {
  await store.transaction(({ db }) =>
    db
      .updateTable("files")
      .set({ model_summary: note.text, model: note.model })
      .where("agent", "=", agent)
      .where("id", "=", id)
      .execute(),
  );
}

/** The files that entries reference. */
export async function findEntryFiles(store: Store, agent: string, seqs: number[]): Promise<string[]> {
  const found = new Set<string>();
  for (let from = 0; from < seqs.length; from += idsAtOnce) {
    const rows = await store.db
      .selectFrom("file_refs")
      .select("file")
      .where("agent", "=", agent)
      .where("seq", "in", seqs.slice(from, from + idsAtOnce))
      .execute();
    for (const row of rows) found.add(row.file);
  }
  return [...found];
}
