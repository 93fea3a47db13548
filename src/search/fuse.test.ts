import { describe, expect, test } from "vitest";
import { loadConfig } from "../config/index.ts";
import { scaleToUnit } from "./features.ts";
import { computeClassicScore, normaliseBm25 } from "./fuse.ts";

const settings = loadConfig({ home: "/nowhere", env: {} }).config.advanced.search;
const { classicWeights } = settings;

describe("the classic profile", () => {
  test("is 0.7 of the vector and 0.3 of BM25", () => {
    expect(computeClassicScore(0.5, 0.6, classicWeights)).toBeCloseTo(0.7 * 0.6 + 0.3 * 0.5);
  });

  test("a strong lexical match keeps 0.92 of its own score", () => {
    expect(computeClassicScore(0.9, 0.1, classicWeights)).toBeCloseTo(0.92 * 0.9);
    expect(computeClassicScore(0.74, 0, classicWeights)).toBeCloseTo(0.3 * 0.74);
  });

  test("without a vector BM25 is the score, and scores stay within 0.1 and 1", () => {
    expect(computeClassicScore(0.6, undefined, classicWeights)).toBe(0.6);
    expect(computeClassicScore(0, -0.5, classicWeights)).toBe(0.1);
    expect(computeClassicScore(1, 1, classicWeights)).toBe(1);
  });

  test("its weights are settings", () => {
    expect(computeClassicScore(0.5, 0.6, { vector: 0.2, bm25: 0.8 })).toBeCloseTo(0.2 * 0.6 + 0.8 * 0.5);
  });

  test("BM25 is normalised to 0–1", () => {
    expect(normaliseBm25(0)).toBe(0);
    expect(normaliseBm25(5.5)).toBeGreaterThan(0.74);
    expect(normaliseBm25(1000)).toBe(1);
  });
});

test("unknown values get the mean of the known ones", () => {
  expect(scaleToUnit([0, 10, undefined, 5])).toEqual([0, 1, 0.5, 0.5]);
  // Equal values all become 1.
  expect(scaleToUnit([3, 3])).toEqual([1, 1]);
  expect(scaleToUnit([undefined])).toEqual([0]);
});
