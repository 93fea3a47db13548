import type { Doc } from "./documents.ts";
import { isSpokenBy } from "./documents.ts";
import { bm25, lengthNorm } from "./query-weights.ts";
import { ranking } from "./ranking.ts";
import { around, type Pool } from "./retrieve.ts";
import { TermCounter } from "./text/count-terms.ts";
import { dot } from "./vectors/math.ts";

/** How much each term of a query weighs, in the order of its terms. */
export interface WeightedTerms {
  terms: readonly string[];
  weights: readonly number[];
  averageTokens: number;
  /** The beginning of a word: whatever begins with it counts as the last term. */
  prefix?: string;
}

/** What the words of the query give each document: alone, with its near and with its wide surroundings. */
export interface LexicalScores {
  own: Float64Array;
  near: Float64Array;
  wide: Float64Array;
  /** The share of the query's weight that the document and its direct neighbours hold. */
  coverage: Float64Array;
}

/** By place in the pool; only the candidates get scores. */
export function lexicalScores(pool: Pool, candidates: readonly number[], query: WeightedTerms): LexicalScores {
  const { terms, weights, averageTokens, prefix } = query;
  const counter = new TermCounter(terms, prefix);
  const frequencies = pool.docs.map((doc) => {
    const norm = lengthNorm(doc.tokens, doc.averageTokens ?? averageTokens);
    const counts = doc.terms ? counter.inTerms(doc.terms) : withSpeaker(doc, terms, counter.inText(doc.text));
    return counts.map((count) => count / norm);
  });
  const total = weights.reduce((sum, weight) => sum + weight, 0) || 1;
  const over = (index: number, window: readonly number[]) => {
    const sum = new Float64Array(terms.length);
    for (const place of around(pool, index, window.length - 1)) {
      const part = window[place.distance] ?? 0;
      const counts = frequencies[place.index];
      for (let term = 0; term < sum.length; term += 1) {
        sum[term] = (sum[term] as number) + part * (counts?.[term] ?? 0);
      }
    }
    return sum;
  };
  const size = pool.docs.length;
  const scores: LexicalScores = {
    own: new Float64Array(size),
    near: new Float64Array(size),
    wide: new Float64Array(size),
    coverage: new Float64Array(size),
  };
  for (const index of candidates) {
    const near = over(index, ranking.windows.near);
    scores.own[index] = bm25(frequencies[index] ?? [], weights);
    scores.near[index] = bm25(near, weights);
    scores.wide[index] = bm25(over(index, ranking.windows.wide), weights);
    let held = 0;
    for (let term = 0; term < near.length; term += 1) if ((near[term] as number) > 0) held += weights[term] ?? 0;
    scores.coverage[index] = held / total;
  }
  return scores;
}

/** Who speaks is part of what is said. */
function withSpeaker(doc: Doc, terms: readonly string[], counts: Float64Array): Float64Array {
  for (const [index, term] of terms.entries()) if (isSpokenBy(doc, term)) counts[index] = (counts[index] as number) + 1;
  return counts;
}

export interface VectorScores {
  own: (number | undefined)[];
  window: (number | undefined)[];
}

/** The cosine of each candidate, and of the mean of it and its neighbours, by place in the pool. */
export function vectorScores(
  pool: Pool,
  candidates: readonly number[],
  query: Float32Array,
  vectorOf: (index: number) => Float32Array | undefined,
): VectorScores {
  const scores: VectorScores = { own: pool.docs.map(() => undefined), window: pool.docs.map(() => undefined) };
  for (const index of candidates) {
    const own = vectorOf(index);
    if (!own) continue;
    scores.own[index] = dot(query, own);
    const sum = new Float32Array(query.length);
    for (const place of around(pool, index, ranking.windows.vector.length - 1)) {
      const vector = vectorOf(place.index);
      const part = ranking.windows.vector[place.distance] ?? 0;
      if (!vector) continue;
      for (let at = 0; at < sum.length; at += 1) sum[at] = (sum[at] as number) + part * (vector[at] as number);
    }
    scores.window[index] = dot(query, sum) / (Math.sqrt(dot(sum, sum)) || 1);
  }
  return scores;
}

/** Values stretched to 0–1. What is unknown gets the mean: not knowing is neither for nor against. */
export function stretched(values: readonly (number | undefined)[]): number[] {
  const known = values.filter((value) => value !== undefined);
  if (known.length === 0) return values.map(() => 0);
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  let sum = 0;
  for (const value of known) {
    low = Math.min(low, value);
    high = Math.max(high, value);
    sum += value;
  }
  const mean = sum / known.length;
  const range = high - low;
  // Equals are all the best: one that nothing but its meaning speaks for must not end at nothing.
  return values.map((value) => (range === 0 ? 1 : ((value ?? mean) - low) / range));
}

/** Values as shares of the largest. */
export function shares(values: Float64Array): number[] {
  const most = values.reduce((largest, value) => Math.max(largest, value), 0);
  return Array.from(values, (value) => (most === 0 ? 0 : value / most));
}
