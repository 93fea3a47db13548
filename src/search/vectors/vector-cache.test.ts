import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock, systemRandom } from "../../domain/index.ts";
import { openStore, type Store } from "../../store/index.ts";
import { VectorBlock } from "./block.ts";
import { toSignedBytes, toUnsignedBytes } from "./math.ts";
import { VectorCache } from "./vector-cache.ts";

const dimensions = 32;
const blockBytes = new VectorBlock(dimensions).bytes;
const folder = mkdtempSync(join(tmpdir(), "varve-vectors-"));
let store: Store;

/** The vector of a row points in a direction of its own. */
function vectorOf(seq: number): Int8Array {
  let state = Math.imul(seq, 2_654_435_761) >>> 0;
  return Int8Array.from({ length: dimensions }, () => {
    state = (Math.imul(state ^ (state >>> 15), 1_664_525) + 1_013_904_223) >>> 0;
    return ((state >>> 8) % 251) - 125;
  });
}

async function addRows(agent: string, from: number, count: number): Promise<void> {
  await store.transaction(async ({ db }) => {
    for (let seq = from; seq < from + count; seq += 500) {
      const rows = Array.from({ length: Math.min(500, from + count - seq) }, (_, index) => seq + index);
      const values = rows.map((row) => ({ seq: row, vector: toUnsignedBytes(vectorOf(row)) }));
      await db
        .insertInto("entry_vectors")
        .values(values.map((row) => ({ agent, space: 1, conversation: 1, time: row.seq, ...row })))
        .execute();
    }
  });
}

async function nearest(cache: VectorCache, agent: string, seq: number) {
  const blocks = await cache.open(agent, 1, undefined, 60_000);
  const norm = Math.hypot(...vectorOf(seq));
  const query = Float32Array.from(vectorOf(seq), (value) => value / norm);
  const read = async (seqs: readonly number[]) => {
    const rows = await store.db
      .selectFrom("entry_vectors")
      .select(["seq", "vector"])
      .where("seq", "in", seqs)
      .execute();
    return new Map(rows.map((row) => [row.seq, toSignedBytes(row.vector)]));
  };
  const [best] = await blocks.nearest(query, 1, () => true, read);
  return { ...best, size: blocks.size, note: blocks.note };
}

beforeAll(async () => {
  store = await openStore({ database: join(folder, "varve.db"), clock: systemClock, random: systemRandom });
  for (let agent = 0; agent < 30; agent += 1) await addRows(`agent${agent}`, 1 + agent * 10, 10);
  await addRows("large", 1_000, 20_000);
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

test("the memory does not grow with the number of agents, and an evicted one is loaded again", async () => {
  const cache = new VectorCache(store, dimensions, 5 * blockBytes);
  for (let agent = 0; agent < 30; agent += 1) {
    expect((await nearest(cache, `agent${agent}`, 5 + agent * 10)).seq).toBe(5 + agent * 10);
    expect(cache.bytes).toBeLessThanOrEqual(5 * blockBytes);
  }
  expect(cache.bytes).toBe(5 * blockBytes);
  expect((await nearest(cache, "agent0", 3)).seq).toBe(3);
});

test("rows that are added later are found", async () => {
  const cache = new VectorCache(store, dimensions, 5 * blockBytes);
  await nearest(cache, "agent1", 15);
  await addRows("agent1", 500, 1);
  expect(await nearest(cache, "agent1", 500)).toMatchObject({ seq: 500, size: 11 });
});

test("rows of a gap are found once they are written, and none is held twice", async () => {
  const cache = new VectorCache(store, dimensions, 50 * blockBytes);
  const embed = async (from: number, count: number, entrySeq: number, gaps: string) => {
    await addRows("gaps", from, count);
    await store.transaction(async ({ db }) => {
      await db.deleteFrom("search_states").where("agent", "=", "gaps").execute();
      const state = { agent: "gaps", space: 1, entry_seq: entrySeq, entries: 0, updated_at: 0, gaps };
      await db.insertInto("search_states").values(state).execute();
    });
  };
  await embed(33_000, 1_000, 33_999, "[[30000,32999]]");
  expect(await nearest(cache, "gaps", 33_500)).toMatchObject({ seq: 33_500, size: 1_000 });
  await embed(31_000, 2_000, 33_999, "[[30000,30999]]");
  expect(await nearest(cache, "gaps", 31_500)).toMatchObject({ seq: 31_500, size: 3_000 });
  // The newest are written before the progress names the gap below them.
  await addRows("gaps", 35_000, 200);
  expect(await nearest(cache, "gaps", 35_010)).toMatchObject({ seq: 35_010, size: 3_200 });
  await embed(34_000, 1_000, 35_199, "[[30000,30999]]");
  expect(await nearest(cache, "gaps", 34_010)).toMatchObject({ seq: 34_010, size: 4_200 });
  await embed(30_001, 999, 35_199, "[]");
  expect(await nearest(cache, "gaps", 30_001)).toMatchObject({ seq: 30_001, size: 5_199 });
  expect(await nearest(cache, "gaps", 35_199)).toMatchObject({ seq: 35_199, size: 5_199 });
});

test("a large agent keeps its vectors while they fit, and only their sign bits when others need the memory", async () => {
  const full = new VectorBlock(dimensions);
  for (let seq = 0; seq < 20_000; seq += 1) full.add({ seq, conversation: 1, time: 0, vector: vectorOf(seq) });
  const cache = new VectorCache(store, dimensions, full.bytes);
  expect(await nearest(cache, "large", 1_234)).toMatchObject({ seq: 1_234, size: 20_000, note: undefined });
  expect(cache.bytes).toBe(full.bytes);
  expect((await nearest(cache, "agent1", 15)).seq).toBe(15);
  expect(cache.bytes).toBeLessThan(0.6 * full.bytes);
  // Loading it again would take long: it was not evicted.
  expect(cache.bytes).toBeGreaterThan(2 * blockBytes);
  expect(await nearest(cache, "large", 1_234)).toMatchObject({ seq: 1_234, size: 20_000, note: undefined });
});

test("a large agent keeps sign bits when its vectors do not fit", async () => {
  const full = new VectorBlock(dimensions);
  for (let seq = 0; seq < 20_000; seq += 1) full.add({ seq, conversation: 1, time: 0, vector: vectorOf(seq) });
  const cache = new VectorCache(store, dimensions, 0.8 * full.bytes);
  expect(await nearest(cache, "large", 1_234)).toMatchObject({ seq: 1_234, size: 20_000, note: undefined });
  expect(cache.bytes).toBeLessThan(0.6 * full.bytes);
});

test("an agent that does not fit at all keeps its newest vectors, and the note says so", async () => {
  const cache = new VectorCache(store, dimensions, 8 * blockBytes);
  const found = await nearest(cache, "large", 20_900);
  expect(found.seq).toBe(20_900);
  expect(found.size).toBeLessThan(20_000);
  expect(found.note).toContain(`only the newest ${found.size} messages were compared by meaning`);
  expect(found.note).toContain("search.vectorCacheMiB");
  expect(cache.bytes).toBeLessThanOrEqual(8 * blockBytes);
});
