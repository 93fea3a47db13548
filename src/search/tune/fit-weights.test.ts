import { expect, test } from "vitest";
import { fitWeights, measureRank, type RankedExample, type Weights } from "./fit-weights.ts";

const start: Weights = {
  near: 0.1,
  wide: 0.1,
  vector: 0.4,
  vectorWindow: 0,
  late: 0,
  lateWindow: 0,
  speaker: 0,
  firstPerson: 0,
  firstHand: 0,
  standing: 0,
  question: 0,
  reaction: 0,
  time: 0,
  sitting: 0,
  answer: 0,
};

/** In each, the relevant candidate has the words and another one the meaning. */
const byWords: RankedExample[] = Array.from({ length: 30 }, (_, index) => ({
  candidates: [
    { near: 1, wide: 1, vector: 0.4 + (index % 5) / 20 },
    { near: 0.1, wide: 0.1, vector: 1 },
    { near: 0, wide: 0.2, vector: 0.7 },
  ],
  relevant: [true, false, false],
}));

test("weights move to the features that single out the right candidates", () => {
  const fitted = fitWeights(byWords, start);
  expect(measureRank(byWords, start)).toBeLessThan(0.8);
  expect(measureRank(byWords, fitted)).toBe(1);
  expect(fitted.near + fitted.wide).toBeGreaterThan(start.near + start.wide);
});

test("weights stay positive and keep their sum", () => {
  const fitted = Object.values(fitWeights(byWords, start));
  expect(fitted.every((weight) => weight >= 0)).toBe(true);
  expect(fitted.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(0.6, 2);
});

test("without examples, or with examples that say nothing, nothing changes", () => {
  expect(fitWeights([], start)).toEqual(start);
  expect(fitWeights([{ candidates: [{ near: 1 }], relevant: [true] }], start)).toEqual(start);
});
