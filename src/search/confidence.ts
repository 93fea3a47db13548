import { ranking } from "./ranking.ts";
import type { Confidence, Evidence } from "./types.ts";

/** How sure it is that the best result answers at all, from 0 to 1. */
export function certainty({ coverage, cosine, late }: Evidence): number {
  const weights = ranking.confidence;
  if (cosine === undefined) return weights.wordsOnly * coverage;
  // Without tokens the vector speaks for both: a sentence that is near has words that are.
  const tokens = late ?? Math.min(1, cosine + 0.2);
  const sum = weights.bias + weights.coverage * coverage + weights.cosine * cosine + weights.late * tokens;
  return 1 / (1 + Math.exp(-sum));
}

export function rateConfidence(best: Evidence | undefined): Confidence {
  if (!best) return "none";
  const value = certainty(best);
  if (value >= ranking.confidence.strong) return "strong";
  return value >= ranking.confidence.weak ? "weak" : "none";
}
