import type { Doc } from "./documents.ts";
import type { Retriever } from "./types.ts";

/** A document on its way through the stages. */
export interface Candidate {
  doc: Doc;
  /** Its place in the pool. */
  index: number;
  sources: (Retriever | "context")[];
  /** BM25 of the document alone, brought to 0–1. */
  bm25: number;
  cosine: number | undefined;
  score: number;
  /** Stays behind everything else, whatever its score: a greeting, a refusal. */
  behind: boolean;
  stages: Record<string, number>;
  notes: string[];
}

/** Best first; the older of two equals first, so that an answer is the same every time. */
export function byScore(a: Candidate, b: Candidate): number {
  return b.score - a.score || (a.doc.seq ?? 0) - (b.doc.seq ?? 0) || (a.doc.key < b.doc.key ? -1 : 1);
}

export function trace(candidates: readonly Candidate[], stage: string): void {
  for (const candidate of candidates) candidate.stages[stage] = rounded(candidate.score);
}

export function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
