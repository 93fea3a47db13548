import type { Candidate } from "../fuse.ts";
import type { WeightedToken } from "../query-weights.ts";
import { ranking } from "../ranking.ts";
import type { Retrieval } from "../retrieve.ts";
import type { SearchContext } from "../search-context.ts";
import { dot } from "../vectors/math.ts";
import { computeLengthPenalty } from "./length-penalty.ts";
import { WordComparer } from "./word-comparer.ts";

/** Tokens below this share of the largest weight cannot change the order and are not compared. */
const leastShare = 0.05;

export function selectHeavyTokens(query: readonly WeightedToken[]): WeightedToken[] {
  const most = query.reduce((largest, token) => Math.max(largest, token.weight), 0);
  return query.filter((token) => token.weight >= leastShare * most);
}

/**
 * Late interaction: the highest cosine of each query token with any token of a text, minus a penalty for long texts,
 * which contain a similar token for anything.
 */
export function computeTokenScores(
  query: readonly WeightedToken[],
  states: Int8Array,
  dimensions: number,
): Float32Array {
  const best = new Float32Array(query.length);
  const count = Math.floor(states.length / dimensions);
  if (count === 0) return best;
  best.fill(-1);
  // Copied once per token: the inner loop runs some hundred thousand times in a search.
  const token = new Float32Array(dimensions);
  for (let at = 0; at < count * dimensions; at += dimensions) {
    let square = 0;
    for (let index = 0; index < dimensions; index += 1) {
      const value = states[at + index] as number;
      token[index] = value;
      square += value * value;
    }
    const norm = Math.sqrt(square) || 1;
    for (let place = 0; place < query.length; place += 1) {
      const cosine = dot((query[place] as WeightedToken).state, token) / norm;
      if (cosine > (best[place] as number)) best[place] = cosine;
    }
  }
  const penalty = computeLengthPenalty(count);
  return best.map((value) => value - penalty);
}

/** The weighted mean over the query's tokens. */
export function averageTokenScores(query: readonly WeightedToken[], best: Float32Array): number {
  let sum = 0;
  let weights = 0;
  for (let index = 0; index < query.length; index += 1) {
    const { weight } = query[index] as WeightedToken;
    sum += weight * (best[index] as number);
    weights += weight;
  }
  return weights === 0 ? 0 : sum / weights;
}

/** The best token scores of a text and its neighbours; those of neighbours are reduced by a factor. */
export function mergeNeighbourScores(own: Float32Array, neighbours: readonly Float32Array[]): Float32Array {
  const together = own.slice();
  for (const scores of neighbours) {
    for (let index = 0; index < together.length; index += 1) {
      together[index] = Math.max(
        together[index] as number,
        ranking.lateInteraction.neighbour * (scores[index] as number),
      );
    }
  }
  return together;
}

/** Tokens are compared for this long before control returns to the event loop. */
const sliceMs = 6;

/** Late interaction for the best candidates: alone, and with their neighbouring messages. */
export async function scoreLateInteraction(
  context: SearchContext,
  agent: string,
  found: Retrieval,
  query: readonly WeightedToken[],
  best: readonly Candidate[],
): Promise<{ own: (number | undefined)[]; window: (number | undefined)[] }> {
  const { pool, cached } = found;
  const tokens = selectHeavyTokens(query);
  // Without the model, words are compared by their instant vectors.
  const words = found.embedded || !context.instant ? undefined : new WordComparer(context.instant.embedder, tokens);
  const dimensions = context.embedder?.space.tokenDimensions ?? 0;
  const listDirectNeighbours = (index: number) =>
    [pool.before[index] ?? -1, pool.after[index] ?? -1].filter((place) => place >= 0);
  const places = new Set(best.flatMap(({ index }) => [index, ...listDirectNeighbours(index)]));
  const seqs = [...places].flatMap((place) => pool.docs[place]?.seq ?? []);
  const states = words ? undefined : await context.vectorCache?.readTokenStates(agent, seqs);
  const nearest = new Map<number, Float32Array>();
  let turn = performance.now();
  for (const place of places) {
    const doc = pool.docs[place];
    const own = doc?.seq === undefined ? cached.get(doc?.key ?? "")?.states : states?.get(doc.seq);
    if (words && doc) nearest.set(place, words.compare(doc.text, doc.speaker));
    else if (own) nearest.set(place, computeTokenScores(tokens, own, dimensions));
    if (performance.now() - turn > sliceMs) {
      await new Promise((resolve) => setImmediate(resolve));
      turn = performance.now();
    }
  }
  const own = best.map(({ index }) => {
    const scores = nearest.get(index);
    return scores && averageTokenScores(tokens, scores);
  });
  const window = best.map(({ index }) => {
    const scores = nearest.get(index);
    if (!scores) return undefined;
    const others = listDirectNeighbours(index).flatMap((place) => nearest.get(place) ?? []);
    return averageTokenScores(tokens, mergeNeighbourScores(scores, others));
  });
  return { own, window };
}
