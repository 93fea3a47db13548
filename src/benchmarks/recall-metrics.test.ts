import { expect, test } from "vitest";
import { areaUnderCurve, ndcgAt10, RecallSums } from "./recall-metrics.ts";

test("recall is the fraction of evidence found, hit whether any was", () => {
  const sums = new RecallSums();
  sums.add(["a", "x", "b"], new Set(["a", "b", "c", "d"]), 10);
  sums.add(["x"], new Set(["y"]), 30);
  expect(sums.figures()).toMatchObject({ questions: 2, recall: { "5": 0.25 }, hit: { "5": 0.5 } });
});

test("NDCG is 1 when all evidence comes first and falls with its rank", () => {
  expect(ndcgAt10(["a", "b", "x"], new Set(["a", "b"]))).toBe(1);
  expect(ndcgAt10(["x", "a"], new Set(["a"]))).toBeCloseTo(1 / Math.log2(3));
});

test("the area under the curve counts pairs, and ties half", () => {
  expect(areaUnderCurve([3, 2], [1])).toBe(1);
  expect(areaUnderCurve([1], [1])).toBe(0.5);
  expect(areaUnderCurve([], [1])).toBeNull();
});
