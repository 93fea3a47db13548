import { isInstantSpaceName } from "../models/index.ts";
import type { Store } from "../store/index.ts";
import { listCoveredByOther, noProgress, parseGaps, type SeqRange } from "./embedding/progress.ts";
import { choosePath, selectMessagesIn } from "./embedding/select-messages.ts";

export interface KnownSpace {
  id: number;
  name: string;
}

/** All spaces of embedding models except one, the newest first. Instant vectors are no model's. */
export async function listOtherSpaces(store: Store, space: number | undefined): Promise<KnownSpace[]> {
  return (await listSpaces(store)).filter(({ id, name }) => id !== space && !isInstantSpaceName(name));
}

/** Spaces of instant vectors that an earlier version made. */
export async function listOldInstantSpaces(store: Store, current: number | undefined): Promise<KnownSpace[]> {
  return (await listSpaces(store)).filter(({ id, name }) => id !== current && isInstantSpaceName(name));
}

function listSpaces(store: Store): Promise<KnownSpace[]> {
  return store.db.selectFrom("vector_spaces").select(["id", "name"]).orderBy("id", "desc").execute();
}

/** The spaces that cover messages or documents of an agent that this one does not, the best covered first. */
export async function findSpacesAhead(store: Store, agent: string, space: number | undefined): Promise<KnownSpace[]> {
  const others = await listOtherSpaces(store, space);
  if (others.length === 0) return [];
  const states = await store.db
    .selectFrom("search_states")
    .select(["space", "entry_seq", "gaps"])
    .where("agent", "=", agent)
    .execute();
  const progress = new Map(
    states.map(({ space: id, entry_seq: entrySeq, gaps }) => [id, { entrySeq, gaps: parseGaps(gaps) }]),
  );
  const read = (id: number | undefined) => progress.get(id ?? -1) ?? noProgress;
  const ahead: KnownSpace[] = [];
  for (const other of others) {
    const isAhead =
      (await hasMessages(store, agent, listCoveredByOther(read(space), read(other.id)))) ||
      (await hasDocuments(store, agent, other.id, space ?? -1));
    if (isAhead) ahead.push(other);
  }
  return ahead.sort((a, b) => read(b.id).entrySeq - read(a.id).entrySeq);
}

/** Whether messages exist in some ranges: deleted ones need no vector. */
async function hasMessages(store: Store, agent: string, ranges: readonly SeqRange[]): Promise<boolean> {
  for (const range of ranges) {
    const path = await choosePath(store, agent, range.after);
    const found = await selectMessagesIn(store, agent, range, path).select("seq").limit(1).execute();
    if (found.length > 0) return true;
  }
  return false;
}

async function hasDocuments(store: Store, agent: string, other: number, space: number): Promise<boolean> {
  const vectors = (kind: string, of: number) =>
    store.db
      .selectFrom("document_vectors as v")
      .select("v.id")
      .where("v.agent", "=", agent)
      .where("v.space", "=", of)
      .where("v.kind", "=", kind);
  for (const [kind, table] of [
    ["summary", "summaries"],
    ["file", "files"],
  ] as const) {
    const found = await store.db
      .selectFrom(table)
      .select("id")
      .where("agent", "=", agent)
      .where("id", "in", vectors(kind, other))
      .where("id", "not in", vectors(kind, space))
      .limit(1)
      .execute();
    if (found.length > 0) return true;
  }
  const chunks = await store.db
    .selectFrom("corpus_chunks")
    .select("hash")
    .where("agent", "=", agent)
    .where("hash", "in", vectors("chunk", other))
    .where("hash", "not in", vectors("chunk", space))
    .limit(1)
    .execute();
  return chunks.length > 0;
}
