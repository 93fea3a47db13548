import { formatSpaceName } from "../models/index.ts";
import { listOtherSpaces, type SearchContext, selectActiveSpace } from "../search/index.ts";
import type { EngineHost } from "./host.ts";

export interface SearchCoverage {
  /** The space the vectors are in; null without a model. */
  model: string | null;
  messages: number;
  vectors: number;
  /** Versions of memories, and how many of them have a vector. */
  memories: number;
  memoryVectors: number;
  /** The space whose vectors a search of the settings' agent compares: an earlier one until the new one has caught up. */
  serving: string | null;
  /** Earlier spaces of which vectors are left: `varve maintain` removes them when they are not needed any more. */
  earlier: { model: string; vectors: number }[];
}

export async function coverageOf(host: EngineHost, room: SearchContext): Promise<SearchCoverage> {
  const { store, loaded, memoryShelf } = host;
  const messages = await store.db
    .selectFrom("conversations")
    .select((eb) => eb.fn.sum<number>("message_count").as("count"))
    .executeTakeFirst();
  const model = room.embedder ? formatSpaceName(room.embedder.space) : null;
  const kept = (await memoryShelf?.coverage()) ?? { memories: 0, vectors: 0 };
  const space = await room.vectorCache?.id();
  const serving = model === null ? null : ((await selectActiveSpace(room, loaded.config.agent)).previous ?? model);
  const earlier: SearchCoverage["earlier"] = [];
  for (const other of await listOtherSpaces(store, space)) {
    const vectors = await countVectors(host, other.id);
    if (vectors > 0) earlier.push({ model: other.name, vectors });
  }
  return {
    model,
    messages: Number(messages?.count ?? 0),
    vectors: space === undefined ? 0 : await countVectors(host, space),
    memories: kept.memories,
    memoryVectors: kept.vectors,
    serving,
    earlier,
  };
}

async function countVectors({ store }: EngineHost, space: number): Promise<number> {
  const row = await store.db
    .selectFrom("entry_vectors")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("space", "=", space)
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}
