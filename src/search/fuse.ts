import type { Doc } from "./documents.ts";
import { divideByLargest, type LexicalScores, scaleToUnit, type VectorScores } from "./features.ts";
import { type RankingSettings, ranking } from "./ranking.ts";
import type { RankingHints } from "./ranking-hints.ts";
import type { Retriever } from "./types.ts";

/** Normalises BM25, which has no upper bound: 0.5–1 for any match, about 0.75 for one rare word; 0 for none. */
export function normaliseBm25(raw: number): number {
  return raw <= 0 ? 0 : 1 / (1 + Math.exp(-raw / 5));
}

/**
 * The score of the `classic` profile: a weighted sum of cosine and BM25. A strong lexical match keeps at least
 * `strongFloor` of its BM25, so that exact names and ticket numbers rank high; without a vector BM25 is the score.
 */
export function computeClassicScore(
  bm25: number,
  cosine: number | undefined,
  weights: RankingSettings["classicWeights"],
): number {
  const { strongBm25, strongFloor, least } = ranking.classic;
  const fused = cosine === undefined ? bm25 : weights.vector * Math.max(0, cosine) + weights.bm25 * bm25;
  const raised = bm25 >= strongBm25 ? Math.max(fused, strongFloor * bm25) : fused;
  return Math.min(1, Math.max(least, raised));
}

/**
 * Scores the candidates by the weighted sum of all features except those that are added later: late interaction, the
 * signals of the conversation and the traits of messages. A missing feature is left out together with its weight. Returns the sum of the weights with
 * late interaction, by which scores are divided.
 */
export function fuseTuned(
  candidates: readonly Candidate[],
  lexical: LexicalScores | undefined,
  vector: VectorScores | undefined,
  hints: RankingHints,
  weights: RankingSettings["weights"],
): number {
  const places = candidates.map((candidate) => candidate.index);
  const pick = <T>(values: ArrayLike<T>) => places.map((place) => values[place] as T);
  const parts: { name?: FeatureName; weight: number; values: readonly number[] }[] = [];
  const push = (name: FeatureName, values: readonly number[]) => parts.push({ name, weight: weights[name], values });
  if (lexical) {
    push("near", pick(divideByLargest(lexical.near)));
    push("wide", pick(divideByLargest(lexical.wide)));
    // Not by the largest: a match of the less telling of two words must stay a weak one.
    const shares = pick(lexical.own).map((score) => Math.min(1, score / lexical.total));
    if (hints.wordWeight > 0) parts.push({ weight: hints.wordWeight, values: shares });
  }
  if (vector) {
    push("vector", scaleToUnit(pick(vector.own)));
    push("vectorWindow", scaleToUnit(pick(vector.window)));
  }
  push("speaker", pick(hints.speaker).map(Number));
  push("firstPerson", pick(hints.firstPerson).map(Number));
  if (hints.time) push("time", pick(hints.time));
  const later = vector ? weights.late + weights.lateWindow : 0;
  const whole = parts.reduce((sum, part) => sum + part.weight, later) || 1;
  for (const [index, candidate] of candidates.entries()) {
    candidate.score = parts.reduce((sum, part) => sum + part.weight * (part.values[index] ?? 0), 0) / whole;
    for (const { name, values } of parts) if (name) candidate.features[name] = values[index] ?? 0;
  }
  return whole;
}

/**
 * Adds the late-interaction scores to the best candidates; the others get none and rank lower. One that has no token
 * states, because the model has not embedded it, is scored by its other features alone. `share` reduces the weight.
 */
export function addLateInteraction(
  candidates: readonly Candidate[],
  whole: number,
  own: (number | undefined)[],
  window: (number | undefined)[],
  weights: RankingSettings["weights"],
  share = 1,
): void {
  const [ownShares, windowShares] = [scaleToUnit(own), scaleToUnit(window)];
  const lateWeight = weights.late + weights.lateWindow;
  const otherWeight = whole - lateWeight;
  const factor = 1 + (ranking.instant.lateFactor * lateWeight) / (otherWeight || 1);
  for (const [index, candidate] of candidates.entries()) {
    if (own[index] === undefined) {
      candidate.score *= factor;
      continue;
    }
    candidate.features.late = ownShares[index] ?? 0;
    candidate.features.lateWindow = windowShares[index] ?? 0;
    const late = weights.late * (ownShares[index] ?? 0) + weights.lateWindow * (windowShares[index] ?? 0);
    candidate.score += (share * late) / whole;
  }
}

/** The fields of a candidate that the stages read and change. Memories are ranked by the same stages. */
export interface RankedCandidate {
  doc: Pick<Doc, "key" | "kind" | "seq" | "speaker" | "text">;
  sources: (Retriever | "context")[];
  /** BM25 of the document without its neighbours, normalised to 0–1. */
  bm25: number;
  cosine: number | undefined;
  score: number;
  /** Ranked after all other results whatever its score: a greeting, a refusal. */
  ranksLast: boolean;
  stages: Record<string, number>;
  notes: string[];
}

/** A document with the scores that the stages give it. */
export interface Candidate extends RankedCandidate {
  doc: Doc;
  /** Its index in the pool. */
  index: number;
  /** The values, 0 to 1, that the weights of the ranking multiply. */
  features: Features;
}

export type FeatureName = keyof RankingSettings["weights"];
export type Features = Partial<Record<FeatureName, number>>;

/** Best first; ties go to the older document, so that the order is deterministic. */
export function compareByScore(a: RankedCandidate, b: RankedCandidate): number {
  return b.score - a.score || (a.doc.seq ?? 0) - (b.doc.seq ?? 0) || (a.doc.key < b.doc.key ? -1 : 1);
}

export function traceScores(candidates: readonly RankedCandidate[], stage: string): void {
  for (const candidate of candidates) candidate.stages[stage] = roundScore(candidate.score);
}

export function roundScore(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
