import type { Doc } from "./documents.ts";
import { isSpeakerName } from "./documents.ts";
import { computeBm25, computeLengthNorm } from "./query-weights.ts";
import { type RankingSettings, ranking } from "./ranking.ts";
import { listNeighbours, type Pool } from "./retrieve.ts";
import { TermCounter } from "./text/count-terms.ts";
import { dot } from "./vectors/math.ts";

/** The terms of a query with their weights. */
export interface WeightedTerms {
  terms: readonly string[];
  weights: readonly number[];
  averageTokens: number;
  /** An unfinished word: every word with this prefix counts as the last term. */
  prefix?: string;
}

/** BM25 by pool index: of the document alone, with its near and with its wide neighbourhood. */
export interface LexicalScores {
  own: Float64Array;
  near: Float64Array;
  wide: Float64Array;
  /** The share of the query's term weights that the document and its direct neighbours contain. */
  coverage: Float64Array;
  /** The sum of the query's term weights: the score of an average message with each term once. */
  total: number;
}

/** Computes scores for the candidates only; the other documents contribute as neighbours. */
export function computeLexicalScores(
  pool: Pool,
  candidates: readonly number[],
  query: WeightedTerms,
  { k1, b }: RankingSettings["bm25"],
): LexicalScores {
  const { terms, weights, averageTokens, prefix } = query;
  const counter = new TermCounter(terms, prefix);
  const frequencies = pool.docs.map((doc) => {
    const norm = computeLengthNorm(doc.tokens, doc.averageTokens ?? averageTokens, b);
    const counts = doc.terms ? counter.inTerms(doc.terms) : addSpeakerCounts(doc, terms, counter.inText(doc.text));
    return counts.map((count) => count / norm);
  });
  const total = weights.reduce((sum, weight) => sum + weight, 0) || 1;
  const over = (index: number, window: readonly number[]) => {
    const sum = new Float64Array(terms.length);
    for (const place of listNeighbours(pool, index, window.length - 1)) {
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
    total,
  };
  for (const index of candidates) {
    const near = over(index, ranking.windows.near);
    scores.own[index] = computeBm25(frequencies[index] ?? [], weights, k1);
    scores.near[index] = computeBm25(near, weights, k1);
    scores.wide[index] = computeBm25(over(index, ranking.windows.wide), weights, k1);
    let matched = 0;
    for (let term = 0; term < near.length; term += 1) if ((near[term] as number) > 0) matched += weights[term] ?? 0;
    scores.coverage[index] = matched / total;
  }
  return scores;
}

/** Counts the speaker's name as a word of the message. */
function addSpeakerCounts(doc: Doc, terms: readonly string[], counts: Float64Array): Float64Array {
  for (const [index, term] of terms.entries())
    if (isSpeakerName(doc, term)) counts[index] = (counts[index] as number) + 1;
  return counts;
}

export interface VectorScores {
  own: (number | undefined)[];
  window: (number | undefined)[];
}

/** Computes the cosine of each candidate alone and of its weighted mean with its neighbours, by pool index. */
export function computeVectorScores(
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
    for (const place of listNeighbours(pool, index, ranking.windows.vector.length - 1)) {
      const vector = vectorOf(place.index);
      const part = ranking.windows.vector[place.distance] ?? 0;
      if (!vector) continue;
      for (let at = 0; at < sum.length; at += 1) sum[at] = (sum[at] as number) + part * (vector[at] as number);
    }
    scores.window[index] = dot(query, sum) / (Math.sqrt(dot(sum, sum)) || 1);
  }
  return scores;
}

/** The scores by the model where a candidate has them, otherwise its instant ones, calibrated. */
export function mergeTiers(
  model: VectorScores | undefined,
  instant: VectorScores | undefined,
  calibrate: (cosine: number) => number,
): VectorScores | undefined {
  if (!instant) return model;
  const merge = (part: keyof VectorScores) =>
    instant[part].map((value, index) => model?.[part][index] ?? (value === undefined ? undefined : calibrate(value)));
  return { own: merge("own"), window: merge("window") };
}

/** Scales values linearly so that they span 0–1. Unknown values get the mean, which is neutral. */
export function scaleToUnit(values: readonly (number | undefined)[]): number[] {
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
  // Equal values all become 1: a single candidate that only its vector supports must not score 0.
  return values.map((value) => (range === 0 ? 1 : ((value ?? mean) - low) / range));
}

/** Divides values by the largest. */
export function divideByLargest(values: Float64Array | readonly number[]): number[] {
  let most = 0;
  for (const value of values) most = Math.max(most, value);
  return Array.from(values, (value) => (most === 0 ? 0 : value / most));
}
