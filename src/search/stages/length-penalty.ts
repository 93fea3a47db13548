import { ranking } from "../ranking.ts";

/** What late interaction subtracts for a text with many tokens: some of them match by chance. */
export function computeLengthPenalty(tokens: number): number {
  const { freeTokens, lengthPenalty } = ranking.lateInteraction;
  return lengthPenalty * Math.max(0, Math.log((tokens + 1) / freeTokens));
}
