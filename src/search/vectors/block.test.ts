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

const toUnit = (vector: Int8Array | undefined) => {
  const norm = Math.hypot(...(vector ?? []));
  return Float32Array.from(vector ?? [], (value) => value / norm);
};

test("a vector is nearest to itself in small and large blocks", async () => {
  for (const count of [100, 8_000]) {
    const { block, vectors } = filled(count);
    for (const seq of [1, 50, count]) {
      const [best] = await block.nearest(toUnit(vectors[seq - 1]), 3);
      expect(best?.seq).toBe(seq);
      expect(best?.cosine).toBeCloseTo(1, 5);
    }
  }
});

test("the preselection by sign bits finds what an exact scan finds", async () => {
  const { block, vectors } = filled(8_000);
  const query = toUnit(vectors[76]);
  const cosine = (vector: Int8Array) => {
    const norm = Math.hypot(...vector);
    return vector.reduce((sum, value, index) => sum + (value / norm) * (query[index] as number), 0);
  };
  const exact = vectors
    .map((vector, index) => ({ seq: index + 1, cosine: cosine(vector) }))
    .sort((a, b) => b.cosine - a.cosine)
    .slice(0, 20);
  const found = new Set((await block.nearest(query, 20)).map((hit) => hit.seq));
  expect(exact.filter((hit) => found.has(hit.seq)).length).toBeGreaterThanOrEqual(18);
});

test("every hit passes the filter, and a row that was just added is not added again", async () => {
  const { block, vectors } = filled(8_000);
  block.add({ seq: 8_000, conversation: 9, time: 0, vector: vectors[0] as Int8Array });
  expect(block.size).toBe(8_000);
  const hits = await block.nearest(toUnit(vectors[9]), 50, (row) => row.conversation === 1);
  expect(hits).toHaveLength(50);
  expect(hits.every((hit) => hit.seq % 2 === 0)).toBe(true);
});

test("a compact block finds the same with vectors that are read, in less memory", async () => {
  const { block, vectors } = filled(8_000);
  const query = toUnit(vectors[76]);
  const before = await block.nearest(query, 20);
  const bytes = block.bytes;
  block.compact();
  expect(block.bytes).toBeLessThan(bytes / 1.5);
  let read = 0;
  const after = await block.nearest(query, 20, undefined, async (seqs) => {
    read += seqs.length;
    return new Map(seqs.map((seq) => [seq, vectors[seq - 1] as Int8Array]));
  });
  expect(after.map((hit) => hit.seq)).toEqual(before.map((hit) => hit.seq));
  expect(read).toBeLessThan(4_000);
  block.add({ seq: 8_001, conversation: 0, time: 0, vector: vectors[76] as Int8Array });
  const [best] = await block.nearest(
    query,
    1,
    (row) => row.seq > 8_000,
    async () => new Map([[8_001, vectors[76] as Int8Array]]),
  );
  expect(best).toMatchObject({ seq: 8_001 });
});

test("the vector of a row is found by its number, whatever the order in which rows came", () => {
  const { vectors } = filled(200);
  const block = new VectorBlock(dimensions);
  const add = (seq: number) => block.add({ seq, conversation: 1, time: 0, vector: vectors[seq] as Int8Array });
  for (let seq = 150; seq > 50; seq -= 1) add(seq);
  const isRight = (seq: number) =>
    block.vectorOf(seq)?.every((value, index) => Math.abs(value - (toUnit(vectors[seq])[index] as number)) < 1e-6);
  expect(isRight(77)).toBe(true);
  for (let seq = 151; seq < 200; seq += 1) add(seq);
  add(20);
  expect([20, 51, 150, 151, 199].filter(isRight)).toHaveLength(5);
  expect([block.vectorOf(50), block.vectorOf(200)]).toEqual([undefined, undefined]);
});

test("the oldest quarter of the rows is dropped with a part of the memory", async () => {
  const { block, vectors } = filled(8_000);
  const bytes = block.bytes;
  block.dropOldest();
  expect(block.size).toBe(6_000);
  expect(block.bytes).toBeLessThan(0.81 * bytes);
  expect((await block.nearest(toUnit(vectors[7_999]), 1))[0]?.seq).toBe(8_000);
  expect((await block.nearest(toUnit(vectors[10]), 1))[0]?.seq).not.toBe(11);
});

test("a block that loses its oldest rows before it has sign bits finds what is left, also when it grows again", async () => {
  const { block, vectors } = filled(1_900);
  const last = block.dropOldest();
  expect(last).toBe(475);
  for (const [index, vector] of vectors.entries()) {
    block.add({ seq: 2_001 + index, conversation: 0, time: index, vector });
    block.add({ seq: 4_001 + index, conversation: 0, time: index, vector });
    block.add({ seq: 6_001 + index, conversation: 0, time: index, vector });
  }
  expect(block.size).toBe(1_425 + 5_700);
  const found = await block.nearest(toUnit(vectors[1_000]), 4);
  expect(found.map((hit) => hit.seq)).toEqual([1_001, 3_001, 5_001, 7_001]);
});
