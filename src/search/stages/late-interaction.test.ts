import { expect, test } from "vitest";
import { averageTokenScores, computeTokenScores, mergeNeighbourScores, selectHeavyTokens } from "./late-interaction.ts";

const token = (x: number, y: number, weight: number) => ({ state: Float32Array.of(x, y), weight });

test("every query token takes the best cosine of the text's tokens", () => {
  const query = [token(1, 0, 3), token(0, 1, 1)];
  const best = computeTokenScores(query, Int8Array.of(100, 0, 70, 70), 2);
  expect(best[0]).toBeCloseTo(1);
  expect(best[1]).toBeCloseTo(Math.SQRT1_2);
  expect(averageTokenScores(query, best)).toBeCloseTo((3 + Math.SQRT1_2) / 4);
});

test("tokens of a neighbour count a little less", () => {
  const together = mergeNeighbourScores(Float32Array.of(0.2, 0.8), [Float32Array.of(1, 0.5)]);
  expect([...together].map((value) => Math.round(value * 100))).toEqual([90, 80]);
});

test("a long text is penalised", () => {
  const query = [token(1, 0, 1)];
  const short = computeTokenScores(query, Int8Array.of(50, 50), 2);
  const long = computeTokenScores(
    query,
    Int8Array.from({ length: 400 }, () => 50),
    2,
  );
  expect(long[0]).toBeLessThan(short[0] as number);
});

test("tokens with little weight are left out, and no tokens give 0", () => {
  expect(selectHeavyTokens([token(1, 0, 5), token(0, 1, 0.1)])).toHaveLength(1);
  expect([...computeTokenScores([token(1, 0, 1)], new Int8Array(0), 2)]).toEqual([0]);
});
