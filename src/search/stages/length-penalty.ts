import { ranking } from "../ranking.ts";

/** The penalty of late interaction for a text with many tokens: some of them match by chance. */
export function computeLengthPenalty(tokens: number): number {
  const { freeTokens, lengthPenalty } = ranking.lateInteraction;
  return lengthPenalty * Math.max(0, Math.log((tokens + 1) / freeTokens));
}
