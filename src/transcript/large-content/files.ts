import { VarveError } from "../../domain/index.ts";
import type { Db, Store } from "../../store/index.ts";
import type { FileHead } from "./reference.ts";

const heads = ["id", "name", "media_type as mediaType", "kind", "summary", "bytes", "lines", "tokens"] as const;

/** What a model wrote about a file, beside what is known of it without one. */
export interface ModelNote {
  text: string;
  model: string | null;
}
const idsAtOnce = 500;

/** What is known of files, without their content. */
export async function readFileHeads(db: Db, agent: string, ids: string[]): Promise<Map<string, FileHead>> {
  const found = new Map<string, FileHead>();
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

/** The content of files, byte for byte. */
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

export interface StoredFile extends FileHead {
  /** The entries that hold it. */
  entries: { conversation: number; seq: number }[];
  byModel?: ModelNote;
}

export async function findFile(store: Store, agent: string, id: string): Promise<StoredFile> {
  const file = (await readFileHeads(store.db, agent, [id])).get(id);
  if (!file) {
    throw new VarveError("FILE_NOT_FOUND", `There is no file ${id} here.`, {
      remedy: "Take an id from a reference in the context, from a summary or from a search.",
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
  const noted = await store.db
    .selectFrom("files")
    .select(["model_summary", "model"])
    .where("agent", "=", agent)
    .where("id", "=", id)
    .executeTakeFirst();
  const text = noted?.model_summary ?? undefined;
  return { ...file, entries, ...(text === undefined ? {} : { byModel: { text, model: noted?.model ?? null } }) };
}

/** Keeps what a model wrote about a file. */
export async function noteFile(store: Store, agent: string, id: string, note: ModelNote): Promise<void> {
  await store.transaction(({ db }) =>
    db
      .updateTable("files")
      .set({ model_summary: note.text, model: note.model })
      .where("agent", "=", agent)
      .where("id", "=", id)
      .execute(),
  );
}

/** Which files some entries hold. */
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
