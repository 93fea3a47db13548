import type { FeatureName, Features } from "../fuse.ts";

export type Weights = Record<FeatureName, number>;

/** The candidates of one replayed query, and which of them are relevant. */
export interface RankedExample {
  candidates: readonly Features[];
  relevant: readonly boolean[];
}

const steps = 300;
const stepSize = 0.3;
/** How strongly the weights are drawn to where they began: a few examples must not move them far. */
const pull = 0.3;
/** Scores are shares of one; this makes the softmax over them as sharp as over logits. */
const sharpness = 20;

/**
 * Fits the weights so that relevant candidates get the highest scores: gradient descent on the listwise softmax loss,
 * with weights that stay positive and near their start.
 */
export function fitWeights(examples: readonly RankedExample[], start: Weights): Weights {
  const names = Object.keys(start) as FeatureName[];
  const total = sum(Object.values(start)) || 1;
  const origin = names.map((name) => start[name] / total);
  let weights = [...origin];
  const usable = examples.filter(({ relevant }) => relevant.some(Boolean) && !relevant.every(Boolean));
  if (usable.length === 0) return start;
  for (let step = 0; step < steps; step += 1) {
    const gradient = names.map(() => 0);
    for (const { candidates, relevant } of usable) {
      const scores = candidates.map((one) => sharpness * score(one, names, weights));
      const shares = softmax(scores);
      const target = 1 / relevant.filter(Boolean).length;
      for (const [index, candidate] of candidates.entries()) {
        const error = (shares[index] as number) - (relevant[index] ? target : 0);
        for (const [at, name] of names.entries()) {
          gradient[at] = (gradient[at] as number) + (error * (candidate[name] ?? 0)) / usable.length;
        }
      }
    }
    weights = weights.map((weight, at) => {
      const drawn = (gradient[at] as number) + pull * (weight - (origin[at] as number));
      return Math.max(0, weight - (stepSize / sharpness) * drawn * (1 - step / steps));
    });
  }
  const scale = total / (sum(weights) || 1);
  return Object.fromEntries(names.map((name, at) => [name, round((weights[at] as number) * scale)])) as Weights;
}

/** The mean reciprocal rank of the first relevant candidate, over all examples. */
export function measureRank(examples: readonly RankedExample[], weights: Weights): number {
  const names = Object.keys(weights) as FeatureName[];
  const values = names.map((name) => weights[name]);
  const ranks = examples.map(({ candidates, relevant }) => {
    const order = candidates
      .map((one, index) => ({ index, score: score(one, names, values) }))
      .sort((a, b) => b.score - a.score || a.index - b.index);
    const first = order.findIndex(({ index }) => relevant[index]);
    return first < 0 ? 0 : 1 / (first + 1);
  });
  return ranks.length === 0 ? 0 : sum(ranks) / ranks.length;
}

function score(features: Features, names: readonly FeatureName[], weights: readonly number[]): number {
  let value = 0;
  for (const [at, name] of names.entries()) value += (weights[at] as number) * (features[name] ?? 0);
  return value;
}

function softmax(scores: readonly number[]): number[] {
  const largest = Math.max(...scores);
  const powers = scores.map((value) => Math.exp(value - largest));
  const total = sum(powers);
  return powers.map((value) => value / total);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
