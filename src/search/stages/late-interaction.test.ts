import { expect, test } from "vitest";
import { lateScore, nearestTokens, tellingTokens, withNeighbours } from "./late-interaction.ts";

const token = (x: number, y: number, weight: number) => ({ state: Float32Array.of(x, y), weight });

test("every token of the query takes the nearest of the text", () => {
  const query = [token(1, 0, 3), token(0, 1, 1)];
  const best = nearestTokens(query, Int8Array.of(100, 0, 70, 70), 2);
  expect(best[0]).toBeCloseTo(1);
  expect(best[1]).toBeCloseTo(Math.SQRT1_2);
  expect(lateScore(query, best)).toBeCloseTo((3 + Math.SQRT1_2) / 4);
});

test("a neighbour helps a little less than the text itself", () => {
  const together = withNeighbours(Float32Array.of(0.2, 0.8), [Float32Array.of(1, 0.5)]);
  expect([...together].map((value) => Math.round(value * 100))).toEqual([90, 80]);
});

test("a long text pays for its length", () => {
  const query = [token(1, 0, 1)];
  const short = nearestTokens(query, Int8Array.of(50, 50), 2);
  const long = nearestTokens(
    query,
    Int8Array.from({ length: 400 }, () => 50),
    2,
  );
  expect(long[0]).toBeLessThan(short[0] as number);
});

test("tokens without weight are left out, and no tokens give nothing", () => {
  expect(tellingTokens([token(1, 0, 5), token(0, 1, 0.1)])).toHaveLength(1);
  expect([...nearestTokens([token(1, 0, 1)], new Int8Array(0), 2)]).toEqual([0]);
});
