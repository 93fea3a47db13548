import type { Candidate } from "./candidate.ts";
import type { Retrieval } from "./retrieve.ts";
import type { SearchContext } from "./search-context.ts";
import { lateScore, nearestTokens, tellingTokens, type WeightedToken, withNeighbours } from "./vectors/late.ts";

/** How long tokens are compared before the event loop gets a turn. */
const sliceMs = 6;

/** Late interaction for the best candidates: alone, and together with the messages beside them. */
export async function lateScores(
  room: SearchContext,
  agent: string,
  found: Retrieval,
  query: readonly WeightedToken[],
  best: readonly Candidate[],
): Promise<{ own: (number | undefined)[]; window: (number | undefined)[] }> {
  const { pool, archived } = found;
  const tokens = tellingTokens(query);
  const dimensions = room.embedder?.space.tokenDimensions ?? 0;
  const beside = (index: number) => [pool.before[index] ?? -1, pool.after[index] ?? -1].filter((place) => place >= 0);
  const places = new Set(best.flatMap(({ index }) => [index, ...beside(index)]));
  const seqs = [...places].flatMap((place) => pool.docs[place]?.seq ?? []);
  const states = (await room.vectorCache?.tokenStates(agent, seqs)) ?? new Map<number, Int8Array>();
  const nearest = new Map<number, Float32Array>();
  let turn = performance.now();
  for (const place of places) {
    const doc = pool.docs[place];
    const own = doc?.seq === undefined ? archived.get(doc?.key ?? "")?.states : states.get(doc.seq);
    if (own) nearest.set(place, nearestTokens(tokens, own, dimensions));
    if (performance.now() - turn > sliceMs) {
      await new Promise((resolve) => setImmediate(resolve));
      turn = performance.now();
    }
  }
  const own = best.map(({ index }) => {
    const near = nearest.get(index);
    return near && lateScore(tokens, near);
  });
  const window = best.map(({ index }) => {
    const near = nearest.get(index);
    if (!near) return undefined;
    const others = beside(index).flatMap((place) => nearest.get(place) ?? []);
    return lateScore(tokens, withNeighbours(near, others));
  });
  return { own, window };
}
