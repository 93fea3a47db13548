import { describe, expect, it } from "vitest";
import { loadConfig } from "../../config/index.ts";
import type { Reranker } from "../../models/index.ts";
import type { Candidate } from "../fuse.ts";
import { blendCosine, blendScores, rerankCandidates } from "./rerank.ts";

function candidate(key: string, score: number, more: Partial<Candidate> = {}): Candidate {
  const doc = {
    key,
    kind: "chunk",
    id: key,
    conversation: null,
    branch: 0,
    time: 0,
    role: "chunk",
    speaker: "chunk",
  } as const;
  const base = {
    index: 0,
    sources: [],
    bm25: 0,
    cosine: undefined,
    ranksLast: false,
    stages: {},
    notes: [],
    features: {},
  };
  return { ...base, doc: { ...doc, text: key, tokens: 1 }, score, ...more };
}

const weight = loadConfig({ home: "/nowhere", env: {} }).config.advanced.search.rerankWeight;

describe("a reranker", () => {
  it.each([
    // score, bm25, reranked, result
    [0.5, 0, 1, 0.8],
    [0.5, 0, 0, 0.25],
    [0.8, 0, 0.1, 0.4],
    [0.8, 0.59, 0, 0.4],
    [0.8, 0.6, 0, 0.72],
    [0.8, 0.74, 0, 0.72],
    [0.8, 0.75, 0, 0.76],
    [0.8, 1, 0.9, 0.86],
    [0.8, 1, undefined, 0.64],
    [0.5, 0, undefined, 0.4],
  ])("blends the score %d with BM25 %d and the reranker's %s to %d", (score, bm25, reranked, expected) => {
    expect(blendScores(score, bm25, reranked, weight)).toBeCloseTo(expected, 10);
  });

  it.each([
    [0.5, 1, 0.65],
    [0.5, 0, 0.35],
    [0.5, -0.4, 0.35],
    [0.5, undefined, 0.5],
  ])("falls back to blending the score %d with the cosine %s to %d", (score, cosine, expected) => {
    expect(blendCosine(score, cosine)).toBeCloseTo(expected, 10);
  });

  it("gets the best candidates, twice as many as the limit", async () => {
    const list = [0.1, 0.9, 0.5, 0.3].map((score) => candidate(`t${score}`, score));
    const asked: string[][] = [];
    const reranker: Reranker = {
      name: "test/one",
      async rerank(_, texts) {
        asked.push([...texts]);
        return [{ index: 1, score: 1 }];
      },
    };
    expect(await rerankCandidates(reranker, "q", list, { limit: 1, weight, hasLate: false })).toEqual({});
    expect(asked).toEqual([["t0.9", "t0.5"]]);
    expect(list.map(({ score }) => Math.round(score * 100) / 100)).toEqual([0.08, 0.72, 0.8, 0.24]);
  });

  it("falls back to vectors when it fails, and reports it", async () => {
    const reranker: Reranker = { name: "test/one", rerank: () => Promise.reject(new Error("it is down")) };
    const list = [candidate("a", 0.5, { cosine: 1 })];
    const { degraded } = await rerankCandidates(reranker, "q", list, { limit: 5, weight, hasLate: false });
    expect(degraded).toBe("the reranker test/one failed (it is down): the results are ranked by vectors");
    expect(list[0]?.score).toBeCloseTo(0.65);
    await rerankCandidates(reranker, "q", list, { limit: 5, weight, hasLate: true });
    expect(list[0]?.score).toBeCloseTo(0.65);
    const signal = AbortSignal.abort();
    await expect(rerankCandidates(reranker, "q", list, { limit: 5, weight, hasLate: true, signal })).rejects.toThrow();
  });
});
