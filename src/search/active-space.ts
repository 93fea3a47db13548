import { type Embedder, formatSpaceName } from "../models/index.ts";
import { createEmbeddingIndex, type EmbeddingIndex, type SearchContext } from "./search-context.ts";
import { findSpacesAhead, listOtherSpaces } from "./space-coverage.ts";

export interface ActiveSpace {
  context: SearchContext;
  /** The previous space that is searched in place of the current one. */
  previous?: string;
  /** A note for the answer. */
  note?: string;
}

/** After a failure of a previous embedder, the vectors of the current one are searched for this long. */
const pauseMs = 60_000;

/**
 * Selects the space to search an agent's messages in. After a change of the model everything is embedded again in the
 * background; until the current space covers as much as the previous one, the previous one is searched with its own
 * embedder. A search uses one space and no other.
 */
export async function selectActiveSpace(context: SearchContext, agent: string): Promise<ActiveSpace> {
  const { embedder, vectorCache, store, instant } = context;
  if (!embedder || !vectorCache) return { context };
  const others = instant ? "words and instant vectors" : "words only";
  return select(context, {
    name: `agent ${agent}`,
    findAhead: async () => (await findSpacesAhead(store, agent, await vectorCache.id())).map((space) => space.name),
    covers: `as much (run \`varve index\`); messages since the change match by ${others}`,
    missing: (current) => `messages that ${current} has not embedded yet match by ${others}`,
  });
}

/** The same for the memories of some scopes, or of all. */
export async function selectMemorySpace(
  context: SearchContext,
  scopes: readonly string[] | undefined,
): Promise<ActiveSpace> {
  const { embedder, memoryVectors, store, previousSpaces } = context;
  if (!embedder || !memoryVectors || previousSpaces.settled.has("memories")) return { context };
  return select(context, {
    name: `memories ${scopes === undefined ? "*" : JSON.stringify([...scopes].sort())}`,
    async findAhead() {
      const others = await listOtherSpaces(store, await memoryVectors.id());
      if (others.length === 0 || (await memoryVectors.findPending(1)).length === 0) {
        previousSpaces.settled.add("memories");
        return [];
      }
      const ahead: string[] = [];
      for (const { id, name } of others) if (await memoryVectors.lacksVectorsFrom(id, scopes)) ahead.push(name);
      return ahead;
    },
    covers: "as many memories (run `varve index`)",
    missing: (current) => `memories that ${current} has not embedded yet match by words only`,
  });
}

interface Selection {
  /** Identifies the selection in `settled`. */
  name: string;
  /** The names of previous spaces with vectors that the current one lacks, the best covered first. */
  findAhead(): Promise<string[]>;
  covers: string;
  /** Describes what is not found by meaning when no previous space can be searched. */
  missing(current: string): string;
}

async function select(context: SearchContext, { name, findAhead, covers, missing }: Selection): Promise<ActiveSpace> {
  const { embedder, store, previousSpaces } = context;
  if (!embedder || previousSpaces.settled.has(name)) return { context };
  const ahead = await findAhead();
  if (ahead.length === 0) {
    previousSpaces.settled.add(name);
    // Frees the vectors of previous spaces; a search that still needs them loads them again.
    previousSpaces.indexes.clear();
    return { context };
  }
  const current = formatSpaceName(embedder.space);
  const reasons: string[] = [];
  for (const space of ahead) {
    const index = openPreviousIndex(context, space);
    const isPaused = (previousSpaces.pausedUntil.get(space) ?? 0) > store.clock.now();
    if (!index || isPaused) {
      reasons.push(`the model of ${space} ${isPaused ? "failed a moment ago" : "is no longer available"}`);
      continue;
    }
    const note = `the vectors of ${space} are searched until ${current} has embedded ${covers}`;
    return { context: { ...context, ...index }, previous: space, note };
  }
  const note = `${reasons.join(", ")}: ${missing(current)}`;
  return { context, note };
}

function openPreviousIndex(
  { store, previousSpaces, cacheBytes }: SearchContext,
  name: string,
): EmbeddingIndex | undefined {
  const known = previousSpaces.indexes.get(name);
  if (known) return known;
  const embedder = previousSpaces.open(name);
  if (!embedder || formatSpaceName(embedder.space) !== name) return undefined;
  const pausing: Embedder = {
    space: embedder.space,
    embed: (texts, signal) => embedder.embed(texts, signal),
    async embedQuery(text, signal) {
      try {
        return await embedder.embedQuery(text, signal);
      } catch (error) {
        if (!signal?.aborted) previousSpaces.pausedUntil.set(name, store.clock.now() + pauseMs);
        throw error;
      }
    },
    close: () => embedder.close(),
  };
  const index = createEmbeddingIndex(store, pausing, cacheBytes);
  previousSpaces.indexes.set(name, index);
  return index;
}
