import { rmSync } from "node:fs";
import { join } from "node:path";
import { openVarve, type Varve } from "../index.ts";
import { createQuestions, factAt } from "./facts.ts";
import { Floor } from "./floor.ts";
import { type BenchResult, percentile, round, timed } from "./result.ts";
import { SyntheticEmbedder } from "./synthetic-embedder.ts";

const recalls = 150;
/** The first recalls load the vectors; a program does that once. */
const warmUp = 10;
/** Earlier memories are written without a search for near-duplicates; only the last ones are measured. */
const measured = 5_000;
/** Concurrent writers, as in a gateway. */
const writers = 8;
/** Floor and engine alternate in slices, so that other load slows both equally. */
const slice = 500;

/** Storing memories through the façade, and recalling them by words and vectors. */
export async function benchMemories(
  folder: string,
  size: number,
  onProgress: (done: number) => void,
): Promise<BenchResult[]> {
  const home = join(folder, `memories-${size}`);
  const embedder = new SyntheticEmbedder();
  const varve = await openVarve({ home, background: false, models: { embedder } });
  try {
    const results = await benchStore(varve, home, size, onProgress);
    await varve.search.index({ onProgress: ({ embedded }) => onProgress(embedded) });
    const times: number[] = [];
    for (const [index, query] of createQuestions(recalls + warmUp, size).entries()) {
      const ms = await timed(() => varve.memory.recall({ query, limit: 10 }));
      if (index >= warmUp) times.push(ms);
    }
    return [
      ...results,
      { name: "memory.recall.p50", size, value: round(percentile(times, 0.5)), unit: "ms" },
      { name: "memory.recall.p95", size, value: round(percentile(times, 0.95)), unit: "ms, 40 to reach" },
    ];
  } finally {
    await varve.close();
    rmSync(home, { recursive: true, force: true });
  }
}

/** Several writers in parallel, each sequential. */
async function byWriters(count: number, write: (index: number) => Promise<void>): Promise<void> {
  await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      for (let index = writer; index < count; index += writers) await write(index);
    }),
  );
}

async function benchStore(
  varve: Varve,
  home: string,
  size: number,
  onProgress: (done: number) => void,
): Promise<BenchResult[]> {
  const timedFrom = Math.max(0, size - measured);
  await byWriters(timedFrom, async (index) => {
    await varve.memory.add({ text: factAt(index), force: true });
    if (index % 1_000 === 0) onProgress(index);
  });
  const floor = new Floor(join(home, "floor.db"));
  const ms = { store: 0, together: 0, floor: 0 };
  for (let from = timedFrom; from < size; from += slice) {
    const texts = Array.from({ length: Math.min(slice, size - from) }, (_, index) => factAt(from + index));
    ms.store += await timed(async () => {
      for (const text of texts) await varve.memory.add({ text });
    });
    const others = texts.map((_, index) => factAt(size + from + index));
    ms.together += await timed(() =>
      byWriters(others.length, async (index) => {
        await varve.memory.add({ text: others[index] ?? "" });
      }),
    );
    ms.floor += await timed(async () => {
      for (const text of texts) floor.write([{ message: { role: "user", content: text }, text }]);
    });
  }
  floor.close();
  const rate = (took: number) => Math.round((size - timedFrom) / (took / 1000));
  const unit = "memories/s one by one";
  return [
    { name: "floor.memory", size, value: rate(ms.floor), unit },
    {
      name: "memory.store",
      size,
      value: rate(ms.store),
      unit: `${unit}, 1,200 to reach`,
      ratio: round(ms.floor / ms.store),
    },
    {
      name: "memory.store.together",
      size,
      value: rate(ms.together),
      unit: `memories/s by ${writers} writers at once`,
      ratio: round(ms.floor / ms.together),
    },
  ];
}
