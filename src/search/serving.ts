import { type Embedder, spaceName } from "../models/index.ts";
import { Archive } from "./archive.ts";
import type { VectorRoom } from "./earlier-spaces.ts";
import type { SearchRoom } from "./room.ts";
import { spacesAhead } from "./spaces-ahead.ts";
import { VectorShelf } from "./vectors/shelf.ts";

export interface Serving {
  room: SearchRoom;
  /** The space that serves in place of the one of today. */
  earlier?: string;
  /** What a caller should hear of it. */
  note?: string;
}

/** After a failure of an earlier model, the vectors there are of the new one serve for so long. */
const restMs = 60_000;

/**
 * The room to search in. After a change of the model everything is embedded anew, behind the searches; until that has
 * come as far as the vectors of before, those serve, with the model that made them. A search sees one space and no other.
 */
export async function servingRoom(room: SearchRoom, agent: string): Promise<Serving> {
  const { embedder, shelf, store, earlier } = room;
  if (!embedder || !shelf || earlier.settled.has(agent)) return { room };
  const ahead = await spacesAhead(store, agent, await shelf.id());
  if (ahead.length === 0) {
    earlier.settled.add(agent);
    // Whoever still needs them loads them again; most often nobody does.
    earlier.rooms.clear();
    return { room };
  }
  const name = spaceName(embedder.space);
  const why: string[] = [];
  for (const space of ahead) {
    const before = openRoomOf(room, space.name);
    const isResting = (earlier.restingUntil.get(space.name) ?? 0) > room.clock.now();
    if (!before || isResting) {
      why.push(`the model of ${space.name} ${isResting ? "failed a moment ago" : "cannot be asked any more"}`);
      continue;
    }
    const note = `the vectors of ${space.name} are searched until ${name} has embedded as much (\`varve index\` does it); what came after the change is found by its words alone`;
    return { room: { ...room, ...before }, earlier: space.name, note };
  }
  const note = `${why.join(", ")}: what ${name} has not embedded yet is found by its words alone`;
  return { room, note };
}

function openRoomOf({ store, clock, earlier }: SearchRoom, name: string): VectorRoom | undefined {
  const known = earlier.rooms.get(name);
  if (known) return known;
  const embedder = earlier.open(name);
  if (!embedder || spaceName(embedder.space) !== name) return undefined;
  const resting: Embedder = {
    space: embedder.space,
    embed: (texts, signal) => embedder.embed(texts, signal),
    async embedQuery(text, signal) {
      try {
        return await embedder.embedQuery(text, signal);
      } catch (error) {
        if (!signal?.aborted) earlier.restingUntil.set(name, clock.now() + restMs);
        throw error;
      }
    },
    close: () => embedder.close(),
  };
  const opened = { embedder: resting, shelf: new VectorShelf(store, embedder.space), archive: new Archive(store) };
  earlier.rooms.set(name, opened);
  return opened;
}
