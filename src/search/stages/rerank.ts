import type { Reranker } from "../../models/index.ts";
import { compareByScore, type RankedCandidate } from "../fuse.ts";
import { ranking } from "../ranking.ts";

const { fallbackCosine, missingFactor, floors, strong } = ranking.stages.rerank;
/** The maximum number of characters of one text that is sent to the reranker. */
const rerankedCharactersMax = 8_000;

/**
 * Blends a score with that of the reranker. Lexical matches keep a floor of their score, so that the reranker cannot
 * bury exact names. Candidates that the reranker did not return keep `missingFactor` of theirs.
 */
export function blendScores(score: number, bm25: number, reranked: number | undefined, weight: number): number {
  if (reranked === undefined) return missingFactor * score;
  const floor = bm25 >= strong[0] ? floors[0] : bm25 >= strong[1] ? floors[1] : floors[2];
  return Math.max(weight * reranked + (1 - weight) * score, floor * score);
}

/** The fallback when the reranker fails: blends in the cosine. Without a vector the score stays. */
export function blendCosine(score: number, cosine: number | undefined): number {
  return cosine === undefined ? score : (1 - fallbackCosine) * score + fallbackCosine * Math.max(0, cosine);
}

/** Reranks the best candidates in place. Returns notes for the answer when it failed or texts were truncated. */
export async function rerankCandidates(
  reranker: Reranker,
  query: string,
  list: readonly RankedCandidate[],
  options: { limit: number; weight: number; hasLate: boolean; signal?: AbortSignal },
): Promise<{ degraded?: string; cut?: string }> {
  const best = list.toSorted(compareByScore).slice(0, 2 * options.limit);
  const texts = best.map(({ doc }) => (doc.kind === "message" ? `${doc.speaker}: ${doc.text}` : doc.text));
  const long = texts.filter((text) => text.length > rerankedCharactersMax).length;
  try {
    const scores = await reranker.rerank(
      query,
      texts.map((text) => text.slice(0, rerankedCharactersMax).toWellFormed()),
      options.signal,
    );
    const byPlace = new Map(scores.map(({ index, score }) => [best[index], score]));
    for (const candidate of list)
      candidate.score = blendScores(candidate.score, candidate.bm25, byPlace.get(candidate), options.weight);
    return long === 0 ? {} : { cut: `${long} long texts were truncated for the reranker` };
  } catch (error) {
    options.signal?.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    // Late interaction has already compared query and texts, and more precisely than a cosine.
    if (!options.hasLate) for (const one of list) one.score = blendCosine(one.score, one.cosine);
    const instead = options.hasLate ? "late interaction" : "vectors";
    return { degraded: `the reranker ${reranker.name} failed (${reason}): the results are ranked by ${instead}` };
  }
}
