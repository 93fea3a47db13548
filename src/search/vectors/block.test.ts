import { expect, test } from "vitest";
import { VectorBlock } from "./block.ts";

const dimensions = 64;

function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32 - 0.5;
  };
}

function filled(count: number): { block: VectorBlock; vectors: Int8Array[] } {
  const next = random(3);
  const block = new VectorBlock(dimensions);
  const vectors = Array.from({ length: count }, () => Int8Array.from({ length: dimensions }, () => next() * 254));
  for (const [index, vector] of vectors.entries()) {
    block.add({ seq: index + 1, conversation: index % 2, time: index, vector });
  }
  return { block, vectors };
}

test("a vector is nearest to itself in small and large blocks", () => {
  for (const count of [100, 8_000]) {
    const { block } = filled(count);
    for (const seq of [1, 50, count]) {
      const [best] = block.nearest(block.vectorAt(seq) as Float32Array, 3);
      expect(best?.seq).toBe(seq);
      expect(best?.cosine).toBeCloseTo(1, 5);
    }
  }
});

test("the preselection by sign bits finds what an exact scan finds", () => {
  const { block, vectors } = filled(8_000);
  const query = block.vectorAt(77) as Float32Array;
  const cosine = (vector: Int8Array) => {
    const norm = Math.hypot(...vector);
    return vector.reduce((sum, value, index) => sum + (value / norm) * (query[index] as number), 0);
  };
  const exact = vectors
    .map((vector, index) => ({ seq: index + 1, cosine: cosine(vector) }))
    .sort((a, b) => b.cosine - a.cosine)
    .slice(0, 20);
  const found = new Set(block.nearest(query, 20).map((hit) => hit.seq));
  expect(exact.filter((hit) => found.has(hit.seq)).length).toBeGreaterThanOrEqual(18);
});

test("every hit passes the filter, and a row is added once", () => {
  const { block, vectors } = filled(8_000);
  block.add({ seq: 1, conversation: 9, time: 0, vector: vectors[0] as Int8Array });
  expect(block.size).toBe(8_000);
  const hits = block.nearest(block.vectorAt(10) as Float32Array, 50, (row) => row.conversation === 1);
  expect(hits).toHaveLength(50);
  expect(hits.every((hit) => hit.seq % 2 === 0)).toBe(true);
});
