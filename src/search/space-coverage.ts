import type { Store } from "../store/index.ts";
import { selectMessagesAfter } from "./embed-pending.ts";

export interface KnownSpace {
  id: number;
  name: string;
}

/** All spaces except one, the newest first. */
export async function listOtherSpaces(store: Store, space: number | undefined): Promise<KnownSpace[]> {
  return store.db
    .selectFrom("vector_spaces")
    .select(["id", "name"])
    .where("id", "!=", space ?? -1)
    .orderBy("id", "desc")
    .execute();
}

/** The spaces that cover messages or documents of an agent that this one does not, the best covered first. */
export async function findSpacesAhead(store: Store, agent: string, space: number | undefined): Promise<KnownSpace[]> {
  const others = await listOtherSpaces(store, space);
  if (others.length === 0) return [];
  const states = await store.db
    .selectFrom("search_states")
    .select(["space", "entry_seq"])
    .where("agent", "=", agent)
    .execute();
  const reach = new Map(states.map((state) => [state.space, state.entry_seq]));
  const from = reach.get(space ?? -1) ?? 0;
  const ahead: KnownSpace[] = [];
  for (const other of others) {
    const isAhead =
      (await hasMessages(store, agent, from, reach.get(other.id) ?? 0)) ||
      (await hasDocuments(store, agent, other.id, space ?? -1));
    if (isAhead) ahead.push(other);
  }
  return ahead.sort((a, b) => (reach.get(b.id) ?? 0) - (reach.get(a.id) ?? 0));
}

/** Whether messages exist between two sequence numbers: deleted ones need no vector. */
async function hasMessages(store: Store, agent: string, from: number, upTo: number): Promise<boolean> {
  if (upTo <= from) return false;
  const found = await selectMessagesAfter(store, agent, from).select("seq").where("seq", "<=", upTo).limit(1).execute();
  return found.length > 0;
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
