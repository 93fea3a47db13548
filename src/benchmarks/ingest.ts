import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Message } from "../index.ts";
import { getEntryText, openVarve } from "../index.ts";
import { conversation } from "./conversation.ts";
import { EventLoopWatch } from "./event-loop.ts";
import { Floor } from "./floor.ts";
import { type BenchResult, round } from "./result.ts";

const batchSize = 100;
/** Floor and engine alternate in slices, so that other load slows both equally. */
const sliceMessages = 5_000;
const singlesMax = 3_000;

interface Slices {
  floorMs: number[];
  ingestMs: number[];
}

/** Ingest compared with the floor, in one conversation, up to a size. */
export async function benchIngest(
  folder: string,
  size: number,
  onProgress: (done: number, total: number) => void,
): Promise<{ results: BenchResult[]; home: string; textBytes: number }> {
  const home = join(folder, `ingest-${size}`);
  const floorFile = join(folder, `floor-${size}.db`);
  const varve = await openVarve({ home, background: false });
  const session = await varve.sessions.resolve({ key: "agent:main:bench" });
  const floor = new Floor(floorFile);
  const loop = new EventLoopWatch();
  const batches: Slices = { floorMs: [], ingestMs: [] };
  let textBytes = 0;
  for (let done = 0; done < size; done += sliceMessages) {
    const slice = prepare(Math.min(sliceMessages, size - done), done);
    for (const { text } of slice) textBytes += Buffer.byteLength(text);
    batches.floorMs.push(timed(() => eachBatch(slice, (batch) => floor.write(batch))));
    await loop.start();
    batches.ingestMs.push(
      await timedAsync(async () => {
        for (let at = 0; at < slice.length; at += batchSize) {
          const messages = slice.slice(at, at + batchSize).map(({ message }) => message);
          await varve.context.ingest(session, messages);
        }
      }),
    );
    loop.stop();
    onProgress(done + slice.length, size);
  }
  const singles = await benchSingles(floor, (messages) => varve.context.ingest(session, messages), size);
  textBytes += singles.textBytes;
  floor.close();
  await varve.close();
  const { databaseBytes } = await reopenedSize(home);
  rmSync(floorFile, { force: true });
  const floorRate = size / (sum(batches.floorMs) / 1000);
  const rate = size / (sum(batches.ingestMs) / 1000);
  const results: BenchResult[] = [
    { name: "floor.batch", size, value: Math.round(floorRate), unit: "messages/s" },
    { name: "ingest.batch", size, value: Math.round(rate), unit: "messages/s", ratio: round(rate / floorRate) },
    ...singles.results.map((result) => ({ ...result, size })),
    { name: "eventloop.p999", size, value: round(loop.percentile(99.9)), unit: "ms" },
    { name: "db.ratio", size, value: round(databaseBytes / textBytes), unit: "× raw text" },
    ...growth(batches, size),
  ];
  return { results, home, textBytes };
}

/** The cost of a message at the end relative to the first 10,000, for engine and floor. */
function growth(slices: Slices, size: number): BenchResult[] {
  const ends = 2;
  if (slices.ingestMs.length < 2 * ends) return [];
  const computeRatio = (times: number[]) => sum(times.slice(-ends)) / sum(times.slice(0, ends));
  return [
    {
      name: "ingest.growth",
      size,
      value: round(computeRatio(slices.ingestMs)),
      unit: "× cost of the first 10,000",
      ratio: round(computeRatio(slices.ingestMs) / computeRatio(slices.floorMs)),
    },
    { name: "floor.growth", size, value: round(computeRatio(slices.floorMs)), unit: "× cost of the first 10,000" },
  ];
}

async function benchSingles(
  floor: Floor,
  ingest: (messages: Message[]) => Promise<unknown>,
  size: number,
): Promise<{ results: Omit<BenchResult, "size">[]; textBytes: number }> {
  const count = Math.min(singlesMax, size);
  const rounds = 6;
  let floorMs = 0;
  let ingestMs = 0;
  let textBytes = 0;
  for (let round = 0; round < rounds; round += 1) {
    const part = prepare(Math.ceil(count / rounds), size + round * count);
    for (const { text } of part) textBytes += Buffer.byteLength(text);
    floorMs += timed(() => {
      for (const one of part) floor.write([one]);
    });
    ingestMs += await timedAsync(async () => {
      for (const { message } of part) await ingest([message]);
    });
  }
  const total = Math.ceil(count / rounds) * rounds;
  const floorRate = total / (floorMs / 1000);
  const rate = total / (ingestMs / 1000);
  const results = [
    { name: "floor.single", value: Math.round(floorRate), unit: "messages/s" },
    { name: "ingest.single", value: Math.round(rate), unit: "messages/s", ratio: round(rate / floorRate) },
  ];
  return { results, textBytes };
}

function prepare(count: number, from: number): { message: Message; text: string }[] {
  return [...conversation(count, from)].map((message) => ({
    message,
    text: getEntryText({ type: "message", message }),
  }));
}

function eachBatch<T>(items: T[], work: (batch: T[]) => void): void {
  for (let at = 0; at < items.length; at += batchSize) work(items.slice(at, at + batchSize));
}

async function reopenedSize(home: string): Promise<{ databaseBytes: number }> {
  const varve = await openVarve({ home });
  const { databaseBytes } = await varve.status();
  await varve.close();
  return { databaseBytes };
}

function timed(work: () => void): number {
  const started = performance.now();
  work();
  return performance.now() - started;
}

async function timedAsync(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
