import { describe, expect, it } from "vitest";
import { cosine, coverage, extractTerms, indexTerms, rougeL, wordCosine } from "./similarity.ts";

describe("terms", () => {
  it("are words without their endings, and pairs of characters where there are no spaces", () => {
    expect(extractTerms("The deployments are running")).toEqual(["deployment", "runn"]);
    expect(extractTerms("我喜欢喝茶")).toEqual(["我喜", "喜欢", "欢喝", "喝茶"]);
    expect(extractTerms("to be or not to be")).toEqual(["to", "be", "or", "not", "to", "be"]);
  });

  it("are phrases for the text index", () => {
    expect(indexTerms("When is my flight to 東京?")).toEqual(["flight", "東 京"]);
  });
});

describe("similarity", () => {
  it("of the same words is one, of others nothing", () => {
    expect(wordCosine("The user likes green tea", "likes tea, green")).toBeCloseTo(1, 10);
    expect(wordCosine("green tea", "black coffee")).toBe(0);
    // Two of three terms each: 2 / 3.
    expect(wordCosine("alpha beta gamma", "alpha beta delta")).toBeCloseTo(2 / 3, 10);
    expect(wordCosine("", "anything")).toBe(0);
  });

  it("of vectors is their cosine", () => {
    expect(cosine([1, 0], [0, 1])).toBe(0);
    expect(cosine([1, 1], [1, 0])).toBeCloseTo(Math.SQRT1_2, 10);
    expect(cosine([0, 0], [1, 0])).toBe(0);
  });

  it("by coverage counts the terms that are held", () => {
    expect(coverage("alpha beta gamma delta", "gamma and then alpha")).toBe(0.5);
  });

  it("by ROUGE-L keeps the order", () => {
    // The longest common subsequence is alpha gamma: 2 * 2 / (3 + 2).
    expect(rougeL("alpha beta gamma", "alpha gamma")).toBeCloseTo(0.8, 10);
    expect(rougeL("gamma alpha", "alpha gamma")).toBeCloseTo(0.5, 10);
    expect(rougeL("alpha", "omega")).toBe(0);
  });
});
