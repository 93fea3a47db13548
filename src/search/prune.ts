import type { Store } from "../store/index.ts";
import type { SearchContext } from "./search-context.ts";
import { findSpacesAhead, listOldInstantSpaces, listOtherSpaces } from "./space-coverage.ts";

export interface PruneResult {
  /** How many vectors were removed. */
  removed: number;
  /** The spaces that keep vectors, and why. */
  kept: { model: string; because: string }[];
}

const pageRows = 2_000;
/** A space that was written to this recently may belong to another process with other settings. */
const quietMs = 3_600_000;

/** Removes the vectors of previous models wherever the current model has embedded as much. */
export async function pruneSpaces(context: SearchContext, signal?: AbortSignal): Promise<PruneResult> {
  const result: PruneResult = { removed: 0, kept: [] };
  const space = await context.vectorCache?.id();
  if (space === undefined) return result;
  for (const old of await listOldInstantSpaces(context.store, await context.instant?.vectors.id())) {
    if (await isInUse(context, old.id)) continue;
    for (const agent of await listAgents(context, old.id))
      result.removed += await removeVectors(context, agent, old.id, signal);
  }
  for (const other of await listOtherSpaces(context.store, space)) {
    if (await isInUse(context, other.id)) {
      result.kept.push({
        model: other.name,
        because: "it was written to within the last hour; another process may use it",
      });
      continue;
    }
    const agents = await listAgents(context, other.id);
    let behind = 0;
    for (const agent of agents) {
      signal?.throwIfAborted();
      const isNeeded = (await findSpacesAhead(context.store, agent, space)).some((one) => one.id === other.id);
      if (isNeeded) behind += 1;
      else result.removed += await removeVectors(context, agent, other.id, signal);
    }
    if (behind > 0)
      result.kept.push({
        model: other.name,
        because: "the current model has not embedded as much yet; run `varve index`",
      });
    else if (!(await isNeededForMemories(context, other.id)))
      result.removed += await removeMemoryVectors(context.store, other.id, signal);
  }
  return result;
}

async function isNeededForMemories({ memoryVectors }: SearchContext, space: number): Promise<boolean> {
  if (!memoryVectors || (await memoryVectors.findPending(1)).length === 0) return false;
  return memoryVectors.lacksVectorsFrom(space);
}

/** Removes every memory vector of a space, page by page; returns how many there were. */
async function removeMemoryVectors(store: Store, space: number, signal?: AbortSignal): Promise<number> {
  for (let removed = 0; ; ) {
    signal?.throwIfAborted();
    const rows = await store.db
      .selectFrom("memory_vectors")
      .select("written")
      .where("space", "=", space)
      .orderBy("written")
      .limit(pageRows)
      .execute();
    const last = rows.at(-1)?.written;
    if (last === undefined) return removed;
    await store.transaction(async ({ db }) => {
      await db.deleteFrom("memory_vectors").where("space", "=", space).where("written", "<=", last).execute();
    });
    removed += rows.length;
  }
}

async function isInUse({ store }: SearchContext, space: number): Promise<boolean> {
  const row = await store.db
    .selectFrom("search_states")
    .select((eb) => eb.fn.max("updated_at").as("at"))
    .where("space", "=", space)
    .executeTakeFirst();
  return Number(row?.at ?? 0) > store.clock.now() - quietMs;
}

async function listAgents({ store }: SearchContext, space: number): Promise<string[]> {
  const agents = new Set<string>();
  for (const table of ["search_states", "entry_vectors", "document_vectors"] as const) {
    const rows = await store.db.selectFrom(table).select("agent").distinct().where("space", "=", space).execute();
    for (const { agent } of rows) agents.add(agent);
  }
  return [...agents];
}

async function removeVectors(
  { store }: SearchContext,
  agent: string,
  space: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  // The progress is removed first: after a crash here the space must not claim vectors that are gone.
  await store.transaction(async ({ db }) => {
    await db.deleteFrom("search_states").where("agent", "=", agent).where("space", "=", space).execute();
  });
  let removed = 0;
  for (;;) {
    signal?.throwIfAborted();
    const rows = await store.db
      .selectFrom("entry_vectors")
      .select("seq")
      .where("agent", "=", agent)
      .where("space", "=", space)
      .orderBy("seq")
      .limit(pageRows)
      .execute();
    const last = rows.at(-1)?.seq;
    if (last === undefined) break;
    await store.transaction(async ({ db }) => {
      for (const table of ["entry_tokens", "entry_vectors"] as const) {
        const old = db.deleteFrom(table).where("agent", "=", agent).where("space", "=", space);
        await old.where("seq", "<=", last).execute();
      }
    });
    removed += rows.length;
  }
  return store.transaction(async ({ db }) => {
    const gone = await db
      .deleteFrom("document_vectors")
      .where("agent", "=", agent)
      .where("space", "=", space)
      .executeTakeFirst();
    return removed + Number(gone.numDeletedRows);
  });
}
