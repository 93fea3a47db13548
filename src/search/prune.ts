import type { SearchContext } from "./search-context.ts";
import { findSpacesAhead, listOtherSpaces } from "./space-coverage.ts";

export interface PruneResult {
  /** How many vectors were removed. */
  removed: number;
  /** The spaces of which something stays, and why. */
  kept: { model: string; because: string }[];
}

const pageRows = 2_000;
/** A space that was written to so lately may be another process's, with other settings. */
const quietMs = 3_600_000;

/** Removes the vectors of earlier models, of every agent of whom the model of today has embedded as much. */
export async function pruneSpaces(room: SearchContext, signal?: AbortSignal): Promise<PruneResult> {
  const result: PruneResult = { removed: 0, kept: [] };
  const space = await room.vectorCache?.id();
  if (space === undefined) return result;
  for (const other of await listOtherSpaces(room.store, space)) {
    if (await isInUse(room, other.id)) {
      result.kept.push({ model: other.name, because: "it was written to within the last hour" });
      continue;
    }
    const agents = await agentsIn(room, other.id);
    let behind = 0;
    for (const agent of agents) {
      signal?.throwIfAborted();
      const isNeeded = (await findSpacesAhead(room.store, agent, space)).some((one) => one.id === other.id);
      if (isNeeded) behind += 1;
      else result.removed += await removeVectors(room, agent, other.id, signal);
    }
    if (behind > 0) result.kept.push({ model: other.name, because: "the new model has not embedded as much yet" });
  }
  return result;
}

async function isInUse({ store, clock }: SearchContext, space: number): Promise<boolean> {
  const row = await store.db
    .selectFrom("search_states")
    .select((eb) => eb.fn.max("updated_at").as("at"))
    .where("space", "=", space)
    .executeTakeFirst();
  return Number(row?.at ?? 0) > clock.now() - quietMs;
}

async function agentsIn({ store }: SearchContext, space: number): Promise<string[]> {
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
  // How far it came goes first: whoever is killed here must not leave a space that claims what it lost.
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
