import { ranking } from "./ranking.ts";
import type { Confidence } from "./types.ts";

/** What speaks for the best result, each from 0 to 1 and none relative to the other results. */
export interface Evidence {
  /** The share of the query's weight that the result and its neighbours hold in words. */
  coverage: number;
  cosine: number | undefined;
  /** Late interaction, before it was stretched. */
  late: number | undefined;
}

/** How sure it is that the best result answers at all, from 0 to 1. */
export function certainty({ coverage, cosine, late }: Evidence): number {
  if (cosine === undefined) return coverage;
  const meaning = late === undefined ? cosine : (cosine + late) / 2;
  return Math.max(0, Math.min(1, (coverage + 2 * meaning) / 3 + 0.1));
}

export function confidenceOf(best: Evidence | undefined): Confidence {
  if (!best) return "none";
  const value = certainty(best);
  if (value >= ranking.confidence.strong) return "strong";
  return value >= ranking.confidence.weak ? "weak" : "none";
}
