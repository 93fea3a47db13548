import { ranking } from "./ranking.ts";

/** How telling a word is that `df` of `n` documents hold. */
export function inverseFrequency(n: number, df: number): number {
  const held = Math.min(df, n);
  return Math.log(1 + (n - held + 0.5) / (held + 0.5));
}

/** How long a document is against the average; a word in a long one counts for less. */
export function lengthNorm(tokens: number, averageTokens: number): number {
  const { b } = ranking.bm25;
  return 1 - b + b * (tokens / Math.max(1, averageTokens));
}

/** The sum over words of rarity times saturated frequency; frequencies come divided by the length norm already. */
export function bm25(frequencies: ArrayLike<number>, weights: ArrayLike<number>): number {
  const { k1 } = ranking.bm25;
  let score = 0;
  for (let index = 0; index < weights.length; index += 1) {
    const frequency = frequencies[index] ?? 0;
    if (frequency > 0) score += ((weights[index] ?? 0) * frequency * (k1 + 1)) / (frequency + k1);
  }
  return score;
}
