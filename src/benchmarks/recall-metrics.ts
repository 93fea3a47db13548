import { round } from "./result.ts";

export interface RecallFigures {
  questions: number;
  /** The mean fraction of evidence among the first k results. */
  recall: Record<string, number>;
  /** The share of questions with any evidence among the first k results. */
  hit: Record<string, number>;
  ndcg10: number;
  msPerQuery: { p50: number; p95: number };
}

export const recallDepths = [5, 10, 20, 50] as const;
const hitDepths = [5, 10] as const;

/** Sums the metrics of one dataset. */
export class RecallSums {
  private questions = 0;
  private readonly recall = new Map<number, number>();
  private readonly hit = new Map<number, number>();
  private ndcg = 0;
  private readonly times: number[] = [];

  add(found: readonly string[], evidence: ReadonlySet<string>, ms: number): void {
    this.questions += 1;
    this.times.push(ms);
    for (const depth of recallDepths) {
      const share = found.slice(0, depth).filter((id) => evidence.has(id)).length / evidence.size;
      this.recall.set(depth, (this.recall.get(depth) ?? 0) + share);
    }
    for (const depth of hitDepths) {
      const any = found.slice(0, depth).some((id) => evidence.has(id)) ? 1 : 0;
      this.hit.set(depth, (this.hit.get(depth) ?? 0) + any);
    }
    this.ndcg += ndcgAt10(found, evidence);
  }

  figures(): RecallFigures {
    const mean = (sum: number) => (this.questions === 0 ? 0 : round(sum / this.questions));
    const means = (sums: ReadonlyMap<number, number>) =>
      Object.fromEntries([...sums].map(([depth, sum]) => [String(depth), mean(sum)]));
    return {
      questions: this.questions,
      recall: means(this.recall),
      hit: means(this.hit),
      ndcg10: mean(this.ndcg),
      msPerQuery: { p50: quantile(this.times, 0.5), p95: quantile(this.times, 0.95) },
    };
  }
}

/** Binary gains, log2 of the rank, against an ideal that has all evidence first. */
export function ndcgAt10(found: readonly string[], evidence: ReadonlySet<string>): number {
  const gain = (rank: number) => 1 / Math.log2(rank + 2);
  let sum = 0;
  for (const [rank, id] of found.slice(0, 10).entries()) if (evidence.has(id)) sum += gain(rank);
  let ideal = 0;
  for (let rank = 0; rank < Math.min(10, evidence.size); rank += 1) ideal += gain(rank);
  return ideal === 0 ? 0 : sum / ideal;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
}

/** The probability that an answerable question gets a higher value than an unanswerable one. */
export function areaUnderCurve(answerable: readonly number[], unanswerable: readonly number[]): number | null {
  if (answerable.length === 0 || unanswerable.length === 0) return null;
  let wins = 0;
  for (const yes of answerable) for (const no of unanswerable) wins += yes > no ? 1 : yes === no ? 0.5 : 0;
  return round(wins / (answerable.length * unanswerable.length));
}
