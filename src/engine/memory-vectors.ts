import type { MemoryVectors } from "../memory/index.ts";
import { type Embedder, formatSpaceName } from "../models/index.ts";
import type { EarlierEmbedders } from "./earlier-embedders.ts";
import type { EngineHost } from "./host.ts";

/** The embedder of the search for memories too: they are written at once, and their vectors follow. */
export function vectorsBy(embedder: Embedder): MemoryVectors {
  return {
    model: formatSpaceName(embedder.space),
    follows: true,
    embed: async (texts, signal) => {
      const made = await embedder.embed(
        texts.map((text) => ({ text })),
        signal,
      );
      return made.map((one) => one.vector);
    },
    embedQuery: async (text, signal) => (await embedder.embedQuery(text, signal)).vector,
  };
}

/** The models of before for memories, so that their vectors serve until the new ones are there. */
export function earlierVectors(earlier: EarlierEmbedders): (name: string) => MemoryVectors | undefined {
  return (name) => {
    const embedder = earlier.open(name);
    return embedder && vectorsBy(embedder);
  };
}

/**
 * What was kept a moment ago is found by its meaning too; a long backlog is not waited for. What is not, in words.
 */
export async function freshenMemories(
  host: EngineHost,
  signal?: AbortSignal,
): Promise<{ failed?: string; behind?: string }> {
  const { memoryShelf: shelf } = host;
  if (!shelf) return {};
  const { freshMax } = host.loaded.config.search;
  const behind = await shelf.behind(freshMax + 1);
  if (behind === 0) return {};
  if (behind <= freshMax) {
    try {
      if ((await shelf.catchUp({ max: behind, signal })).embedded > 0) return {};
    } catch (error) {
      signal?.throwIfAborted();
      return { failed: error instanceof Error ? error.message : String(error) };
    }
  }
  const count = behind > freshMax ? `more than ${freshMax}` : String(behind);
  const left = `${count} memories have no vector yet and are found by their words alone`;
  return { behind: `${left}: \`varve index\` embeds them` };
}
