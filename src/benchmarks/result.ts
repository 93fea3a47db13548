import { readFileSync } from "node:fs";

export interface BenchResult {
  name: string;
  /** The number of messages or memories in the database. */
  size: number;
  value: number;
  unit: string;
  /** The value as a share of the baseline of the same run. */
  ratio?: number;
}

/** Three digits: more would be noise. */
export function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

/** The resident memory of this process in bytes, without the files that it maps where the system tells them apart. */
export function readMemory(): number {
  if (process.platform !== "linux") return process.memoryUsage.rss();
  const anonymous = /RssAnon:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
  return anonymous === undefined ? process.memoryUsage.rss() : Number(anonymous) * 1024;
}
