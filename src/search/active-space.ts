import { type Embedder, formatSpaceName } from "../models/index.ts";
import { MessageCache } from "./message-cache.ts";
import type { SpaceContext } from "./previous-spaces.ts";
import type { SearchContext } from "./search-context.ts";
import { findSpacesAhead } from "./space-coverage.ts";
import { VectorCache } from "./vectors/vector-cache.ts";

export interface ActiveSpace {
  context: SearchContext;
  /** The space that serves in place of the one of today. */
  previous?: string;
  /** What a caller should hear of it. */
  note?: string;
}

/** After a failure of an earlier model, the vectors there are of the new one serve for so long. */
const restMs = 60_000;

/**
 * The room to search in. After a change of the model everything is embedded anew, behind the searches; until that has
 * come as far as the vectors of before, those serve, with the model that made them. A search sees one space and no other.
 */
export async function selectActiveSpace(room: SearchContext, agent: string): Promise<ActiveSpace> {
  const { embedder, vectorCache, store, previousSpaces } = room;
  if (!embedder || !vectorCache || previousSpaces.settled.has(agent)) return { context: room };
  const ahead = await findSpacesAhead(store, agent, await vectorCache.id());
  if (ahead.length === 0) {
    previousSpaces.settled.add(agent);
    // Whoever still needs them loads them again; most often nobody does.
    previousSpaces.contexts.clear();
    return { context: room };
  }
  const name = formatSpaceName(embedder.space);
  const why: string[] = [];
  for (const space of ahead) {
    const before = openRoomOf(room, space.name);
    const isResting = (previousSpaces.pausedUntil.get(space.name) ?? 0) > room.clock.now();
    if (!before || isResting) {
      why.push(`the model of ${space.name} ${isResting ? "failed a moment ago" : "cannot be asked any more"}`);
      continue;
    }
    const note = `the vectors of ${space.name} are searched until ${name} has embedded as much (\`varve index\` does it); what came after the change is found by its words alone`;
    return { context: { ...room, ...before }, previous: space.name, note };
  }
  const note = `${why.join(", ")}: what ${name} has not embedded yet is found by its words alone`;
  return { context: room, note };
}

function openRoomOf({ store, clock, previousSpaces }: SearchContext, name: string): SpaceContext | undefined {
  const known = previousSpaces.contexts.get(name);
  if (known) return known;
  const embedder = previousSpaces.open(name);
  if (!embedder || formatSpaceName(embedder.space) !== name) return undefined;
  const resting: Embedder = {
    space: embedder.space,
    embed: (texts, signal) => embedder.embed(texts, signal),
    async embedQuery(text, signal) {
      try {
        return await embedder.embedQuery(text, signal);
      } catch (error) {
        if (!signal?.aborted) previousSpaces.pausedUntil.set(name, clock.now() + restMs);
        throw error;
      }
    },
    close: () => embedder.close(),
  };
  const opened = {
    embedder: resting,
    vectorCache: new VectorCache(store, embedder.space),
    messageCache: new MessageCache(store),
  };
  previousSpaces.contexts.set(name, opened);
  return opened;
}
