import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { benchHybrid } from "./hybrid-speed.ts";
import { benchIngest } from "./ingest.ts";
import { benchMemories } from "./memory-speed.ts";
import { benchCold, benchColdModel, benchIdle } from "./process.ts";
import { benchRecallSpeed } from "./recall-speed.ts";
import type { BenchResult } from "./result.ts";

export interface SpeedOptions {
  sizes: number[];
  onProgress(name: string, done: number, total: number): void;
}

/** All speed measurements, each size in a home of its own that is removed afterwards. */
export async function benchSpeed(options: SpeedOptions): Promise<{ results: BenchResult[] }> {
  const folder = mkdtempSync(join(tmpdir(), "varve-bench-"));
  const results: BenchResult[] = [];
  try {
    for (const size of options.sizes) {
      const ingest = await benchIngest(folder, size, (done, total) =>
        options.onProgress(`ingest of ${size}`, done, total),
      );
      // Before the sweep: it leaves work behind, and a gateway that works is not idle.
      const process = [...(await benchCold(ingest.home, size)), ...(await benchIdle(ingest.home, size))];
      const hybrid = await benchHybrid(ingest.home, size, (done) =>
        options.onProgress(`vectors of ${size}`, done, size),
      );
      const memories = await benchMemories(folder, size, (done) =>
        options.onProgress(`memories of ${size}`, done, size),
      );
      const recall = await benchRecallSpeed(ingest.home, size, ingest.textBytes);
      results.push(...ingest.results, ...hybrid, ...recall, ...process, ...memories);
      rmSync(ingest.home, { recursive: true, force: true });
    }
    results.push(...(await benchColdModel(folder)));
    return { results };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
