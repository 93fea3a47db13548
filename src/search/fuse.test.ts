import { describe, expect, test } from "vitest";
import { stretched } from "./features.ts";
import { classicScore, unitBm25 } from "./fuse.ts";

describe("the classic profile", () => {
  test("is 0.7 of the vector and 0.3 of BM25", () => {
    expect(classicScore(0.5, 0.6)).toBeCloseTo(0.7 * 0.6 + 0.3 * 0.5);
  });

  test("a strong lexical hit keeps 0.92 of its own score", () => {
    expect(classicScore(0.9, 0.1)).toBeCloseTo(0.92 * 0.9);
    expect(classicScore(0.74, 0)).toBeCloseTo(0.3 * 0.74);
  });

  test("a hit of words alone keeps its score, and everything stays within 0.1 and 1", () => {
    expect(classicScore(0.6, undefined)).toBe(0.6);
    expect(classicScore(0, -0.5)).toBe(0.1);
    expect(classicScore(1, 1)).toBe(1);
  });

  test("BM25 is brought to 0–1", () => {
    expect(unitBm25(0)).toBe(0);
    expect(unitBm25(5.5)).toBeGreaterThan(0.74);
    expect(unitBm25(1000)).toBe(1);
  });
});

test("what is unknown gets the mean of what is known", () => {
  expect(stretched([0, 10, undefined, 5])).toEqual([0, 1, 0.5, 0.5]);
  // Of equals each is the best.
  expect(stretched([3, 3])).toEqual([1, 1]);
  expect(stretched([undefined])).toEqual([0]);
});
