import type { Reranker } from "../../models/index.ts";
import { byScore, type Candidate } from "../candidate.ts";
import { ranking } from "../ranking.ts";

const { weight, fallbackCosine, kept, floors, strong } = ranking.stages.rerank;
/** What a reranker reads of one text. */
export const rerankedCharactersMax = 8_000;

/**
 * One candidate's score with what the reranker said. The words it matched are not forgotten: strong lexical hits keep
 * most of their score. What the reranker did not return keeps four fifths.
 */
export function blended(score: number, bm25: number, reranked: number | undefined): number {
  if (reranked === undefined) return kept * score;
  const floor = bm25 >= strong[0] ? floors[0] : bm25 >= strong[1] ? floors[1] : floors[2];
  return Math.max(weight * reranked + (1 - weight) * score, floor * score);
}

/** The score without a reranker's word. Where there is no vector nothing speaks for a change. */
export function withoutReranker(score: number, cosine: number | undefined): number {
  return cosine === undefined ? score : (1 - fallbackCosine) * score + fallbackCosine * Math.max(0, cosine);
}

/** Asks the reranker about the best candidates and blends; what to say when it could not be asked, or not about all. */
export async function rerankCandidates(
  reranker: Reranker,
  query: string,
  list: readonly Candidate[],
  options: { limit: number; hasLate: boolean; signal?: AbortSignal },
): Promise<{ degraded?: string; cut?: string }> {
  const best = list.toSorted(byScore).slice(0, 2 * options.limit);
  const texts = best.map(({ doc }) => (doc.kind === "message" ? `${doc.speaker}: ${doc.text}` : doc.text));
  const long = texts.filter((text) => text.length > rerankedCharactersMax).length;
  try {
    const scores = await reranker.rerank(
      query,
      texts.map((text) => text.slice(0, rerankedCharactersMax).toWellFormed()),
      options.signal,
    );
    const byPlace = new Map(scores.map(({ index, score }) => [best[index], score]));
    for (const candidate of list) candidate.score = blended(candidate.score, candidate.bm25, byPlace.get(candidate));
    return long === 0 ? {} : { cut: `the reranker read only the beginning of ${long} long texts` };
  } catch (error) {
    options.signal?.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    // Late interaction has compared question and texts already, and better than a cosine does.
    if (!options.hasLate) for (const one of list) one.score = withoutReranker(one.score, one.cosine);
    const instead = options.hasLate ? "late interaction" : "the vectors";
    return { degraded: `the reranker ${reranker.name} failed (${reason}): ${instead} put the results in order` };
  }
}
