import { describe, expect, it } from "vitest";
import {
  computeCosine,
  computeCoverage,
  computeRougeL,
  computeWordCosine,
  extractIndexTerms,
  extractTerms,
} from "./similarity.ts";

describe("terms", () => {
  it("are words without endings, and character pairs in scripts without spaces", () => {
    expect(extractTerms("The deployments are running")).toEqual(["deployment", "runn"]);
    expect(extractTerms("我喜欢喝茶")).toEqual(["我喜", "喜欢", "欢喝", "喝茶"]);
    expect(extractTerms("to be or not to be")).toEqual(["to", "be", "or", "not", "to", "be"]);
  });

  it("are phrases for the text index", () => {
    expect(extractIndexTerms("When is my flight to 東京?")).toEqual(["flight", "東 京"]);
  });
});

describe("similarity", () => {
  it("of equal words is 1, of different ones 0", () => {
    expect(computeWordCosine("The user likes green tea", "likes tea, green")).toBeCloseTo(1, 10);
    expect(computeWordCosine("green tea", "black coffee")).toBe(0);
    // Two of three terms each: 2 / 3.
    expect(computeWordCosine("alpha beta gamma", "alpha beta delta")).toBeCloseTo(2 / 3, 10);
    expect(computeWordCosine("", "anything")).toBe(0);
  });

  it("of vectors is their cosine", () => {
    expect(computeCosine([1, 0], [0, 1])).toBe(0);
    expect(computeCosine([1, 1], [1, 0])).toBeCloseTo(Math.SQRT1_2, 10);
    expect(computeCosine([0, 0], [1, 0])).toBe(0);
  });

  it("by coverage counts the contained terms", () => {
    expect(computeCoverage("alpha beta gamma delta", "gamma and then alpha")).toBe(0.5);
  });

  it("by ROUGE-L depends on the order", () => {
    // The longest common subsequence is alpha gamma: 2 * 2 / (3 + 2).
    expect(computeRougeL("alpha beta gamma", "alpha gamma")).toBeCloseTo(0.8, 10);
    expect(computeRougeL("gamma alpha", "alpha gamma")).toBeCloseTo(0.5, 10);
    expect(computeRougeL("alpha", "omega")).toBe(0);
  });
});
