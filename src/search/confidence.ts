import { ranking } from "./ranking.ts";
import { extractTerms } from "./text/words.ts";
import type { Confidence, Evidence } from "./types.ts";

/** The share of the words that ask for an account which a text contains; undefined without any. */
export function computeAccountShare(terms: readonly string[], text: string): number | undefined {
  if (terms.length === 0) return undefined;
  const found = new Set(extractTerms(text));
  return terms.filter((term) => found.has(term)).length / terms.length;
}

/** The probability, 0 to 1, that the best result answers the query. */
export function computeCertainty({ coverage, cosine, late, tier, account = 1 }: Evidence): number {
  const weights = ranking.confidence;
  const byWords = weights.wordsOnly * coverage * (1 + account) * 0.5;
  if (cosine === undefined) return byWords;
  // Without late interaction its score is estimated from the cosine.
  const tokens = late ?? Math.min(1, cosine + 0.2);
  const matched = weights.coverage * coverage + weights.cosine * cosine + weights.late * tokens;
  const sum = weights.bias + matched - weights.account * (1 - account);
  const certainty = 1 / (1 + Math.exp(-sum));
  // A low cosine of instant vectors is no evidence against an answer.
  return tier === "instant" ? Math.max(byWords, certainty) : certainty;
}

export function rateConfidence(best: Evidence | undefined): Confidence {
  if (!best) return "none";
  const { strong, weak } = ranking.confidence;
  const certainty = computeCertainty(best);
  if (certainty >= strong) return "strong";
  // A result about the subject that may lack what is asked of it is not nothing.
  return Math.max(certainty, computeCertainty({ ...best, account: 1 })) >= weak ? "weak" : "none";
}
