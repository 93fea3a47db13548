import type { Doc } from "./documents.ts";
import type { Retriever } from "./types.ts";

/** A document with the scores that the stages give it. */
export interface Candidate {
  doc: Doc;
  /** Its index in the pool. */
  index: number;
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

/** Best first; ties go to the older document, so that the order is deterministic. */
export function compareByScore(a: Candidate, b: Candidate): number {
  return b.score - a.score || (a.doc.seq ?? 0) - (b.doc.seq ?? 0) || (a.doc.key < b.doc.key ? -1 : 1);
}

export function traceScores(candidates: readonly Candidate[], stage: string): void {
  for (const candidate of candidates) candidate.stages[stage] = roundScore(candidate.score);
}

export function roundScore(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
