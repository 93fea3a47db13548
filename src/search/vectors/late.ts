import { ranking } from "../ranking.ts";
import { dot } from "./math.ts";

/** One token of a query, with how much it counts. */
export interface WeightedToken {
  state: Float32Array;
  weight: number;
}

/** Tokens that weigh less than this share of the heaviest cannot change an order and are not compared. */
const leastShare = 0.05;

export function tellingTokens(query: readonly WeightedToken[]): WeightedToken[] {
  const most = query.reduce((largest, token) => Math.max(largest, token.weight), 0);
  return query.filter((token) => token.weight >= leastShare * most);
}

/**
 * Late interaction: for every token of the query, how near the nearest token of a text is. A long text has a near token
 * for anything, so that its advantage by length alone is taken off.
 */
export function nearestTokens(query: readonly WeightedToken[], states: Int8Array, dimensions: number): Float32Array {
  const best = new Float32Array(query.length);
  const count = Math.floor(states.length / dimensions);
  if (count === 0) return best;
  best.fill(-1);
  // Copied out once: the loop below runs some hundred thousand times a search.
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
  const { freeTokens, lengthPenalty } = ranking.lateInteraction;
  const penalty = lengthPenalty * Math.max(0, Math.log((count + 1) / freeTokens));
  return best.map((value) => value - penalty);
}

/** The mean over the query's tokens by their weights. */
export function lateScore(query: readonly WeightedToken[], best: Float32Array): number {
  let sum = 0;
  let weights = 0;
  for (let index = 0; index < query.length; index += 1) {
    const { weight } = query[index] as WeightedToken;
    sum += weight * (best[index] as number);
    weights += weight;
  }
  return weights === 0 ? 0 : sum / weights;
}

/** What a text and its neighbours have together: the nearest token of any, a neighbour's counting a little less. */
export function withNeighbours(own: Float32Array, neighbours: readonly Float32Array[]): Float32Array {
  const together = own.slice();
  for (const near of neighbours) {
    for (let index = 0; index < together.length; index += 1) {
      together[index] = Math.max(
        together[index] as number,
        ranking.lateInteraction.neighbour * (near[index] as number),
      );
    }
  }
  return together;
}
