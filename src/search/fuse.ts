import type { Candidate } from "./candidate.ts";
import { isSpokenBy } from "./documents.ts";
import { type LexicalScores, shares, stretched, type VectorScores } from "./features.ts";
import { ranking } from "./ranking.ts";
import type { Retrieval } from "./retrieve.ts";
import { scoreTimeFit, type TimeSpan } from "./time/time-span.ts";

/** BM25 has no upper end: this brings it to 0.5–1 for what matches at all, 0.75 being a rare word found. */
export function unitBm25(raw: number): number {
  return raw <= 0 ? 0 : 1 / (1 + Math.exp(-raw / 5));
}

/**
 * The reference: 0.7 of the vector and 0.3 of BM25; a strong lexical hit keeps 0.92 of its own score, so that exact
 * names and ticket numbers survive; a hit of words alone keeps its score.
 */
export function classicScore(bm25: number, cosine: number | undefined): number {
  const { vector, bm25: lexical, strongBm25, strongFloor, least } = ranking.classic;
  const fused = cosine === undefined ? bm25 : vector * Math.max(0, cosine) + lexical * bm25;
  const kept = bm25 >= strongBm25 ? Math.max(fused, strongFloor * bm25) : fused;
  return Math.min(1, Math.max(least, kept));
}

export interface Hints {
  /** Who is named in the query speaks, by place in the pool. */
  speaker: readonly boolean[];
  /** The query is about whoever asks, and this is what a user said. */
  firstPerson: readonly boolean[];
  /** How well the time fits the one that is asked for; absent when none is. */
  time?: readonly number[];
}

const { tuned } = ranking;

/**
 * The weighted sum of everything known before tokens are compared; what is missing takes its weight with it. Returns
 * the sum of all weights, late interaction's included, that the scores are shares of.
 */
export function fuseTuned(
  candidates: readonly Candidate[],
  lexical: LexicalScores | undefined,
  vector: VectorScores | undefined,
  hints: Hints,
): number {
  const places = candidates.map((candidate) => candidate.index);
  const pick = <T>(values: ArrayLike<T>) => places.map((place) => values[place] as T);
  const parts: { weight: number; values: readonly number[] }[] = [];
  if (lexical) {
    parts.push({ weight: tuned.near, values: pick(shares(lexical.near)) });
    parts.push({ weight: tuned.wide, values: pick(shares(lexical.wide)) });
  }
  if (vector) {
    parts.push({ weight: tuned.vector, values: stretched(pick(vector.own)) });
    parts.push({ weight: tuned.vectorWindow, values: stretched(pick(vector.window)) });
  }
  parts.push({ weight: tuned.speaker, values: pick(hints.speaker).map(Number) });
  parts.push({ weight: tuned.firstPerson, values: pick(hints.firstPerson).map(Number) });
  if (hints.time) parts.push({ weight: tuned.time, values: pick(hints.time) });
  const whole = parts.reduce((sum, part) => sum + part.weight, vector ? tuned.late + tuned.lateWindow : 0);
  for (const [index, candidate] of candidates.entries()) {
    candidate.score = parts.reduce((sum, part) => sum + part.weight * (part.values[index] ?? 0), 0) / whole;
  }
  return whole;
}

/** Adds what late interaction found to the best candidates; the others stay below for want of it. */
export function addLate(
  candidates: readonly Candidate[],
  whole: number,
  own: (number | undefined)[],
  window: (number | undefined)[],
): void {
  const [ownShares, windowShares] = [stretched(own), stretched(window)];
  for (const [index, candidate] of candidates.entries()) {
    const late = tuned.late * (ownShares[index] ?? 0) + tuned.lateWindow * (windowShares[index] ?? 0);
    candidate.score += late / whole;
  }
}

/** What the query says beside its words: who spoke, that it is about the asker, when it was. */
export function makeRankingHints(found: Retrieval, time: TimeSpan | undefined): Hints {
  const { pool, parsed } = found;
  return {
    speaker: pool.docs.map((doc) => parsed.terms.some(({ term }) => isSpokenBy(doc, term))),
    firstPerson: pool.docs.map((doc) => parsed.aboutSelf && doc.role === "user"),
    ...(time ? { time: pool.docs.map((doc) => scoreTimeFit(time, doc.time)) } : {}),
  };
}
