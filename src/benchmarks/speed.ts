import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { benchHybrid } from "./hybrid-speed.ts";
import { benchIngest } from "./ingest.ts";
import { benchMemories } from "./memory-speed.ts";
import { benchCold, benchColdModel, benchIdle } from "./process.ts";
import { benchRecallSpeed } from "./recall-speed.ts";
import type { BenchResult } from "./result.ts";

/** The parts in order; all but memories use the database of the ingest. */
export const speedParts = ["ingest", "process", "hybrid", "recall", "memory"] as const;
export type SpeedPart = (typeof speedParts)[number];

export interface SpeedOptions {
  sizes: number[];
  /** Only these parts; all when absent. */
  only?: readonly SpeedPart[];
  onProgress(name: string, done: number, total: number): void;
}

/** All speed measurements, each size in a home of its own that is removed afterwards. */
export async function benchSpeed(options: SpeedOptions): Promise<{ results: BenchResult[] }> {
  const folder = mkdtempSync(join(tmpdir(), "varve-bench-"));
  const wants = (part: SpeedPart) => options.only?.includes(part) ?? true;
  const results: BenchResult[] = [];
  try {
    for (const size of options.sizes) {
      const progress = (name: string) => (done: number, total: number) =>
        options.onProgress(`${name} of ${size}`, done, total);
      if (speedParts.some((part) => part !== "memory" && wants(part))) {
        const ingest = await benchIngest(folder, size, progress("ingest"));
        if (wants("ingest")) results.push(...ingest.results);
        // Before the sweep: it enqueues jobs, and a gateway that runs them is not idle.
        if (wants("process")) {
          results.push(...(await benchCold(ingest.home, size)), ...(await benchIdle(ingest.home, size)));
        }
        if (wants("hybrid")) {
          results.push(...(await benchHybrid(ingest.home, size, (done) => progress("vectors")(done, size))));
        }
        if (wants("recall")) results.push(...(await benchRecallSpeed(ingest.home, size, ingest.textBytes)));
        rmSync(ingest.home, { recursive: true, force: true });
      }
      if (wants("memory")) {
        results.push(...(await benchMemories(folder, size, (done) => progress("memories")(done, size))));
      }
    }
    if (wants("process")) results.push(...(await benchColdModel(folder)));
    return { results };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
