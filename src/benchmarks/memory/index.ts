import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openVarve } from "../../index.ts";
import { benchPairs, type PairFigures } from "./bench-pairs.ts";
import { benchPrompts, type PromptFigures } from "./bench-prompts.ts";
import { benchCoverage, type CoverageFigures } from "./coverage.ts";

export interface MemoryBench {
  /** Pairs of sentences, by language and `all`. */
  pairs: Record<string, PairFigures>;
  /** Prompts that should bring up a memory, and prompts that should bring up none, by language. */
  prompts: Record<string, PromptFigures>;
  /** How much of the evidence of questions is found through memories, by dataset; empty without data. */
  coverage: Record<string, CoverageFigures>;
}

export interface MemoryBenchOptions {
  /** A folder with datasets; without it coverage is not measured. */
  data?: string;
  only?: readonly string[];
  database?: string;
  onProgress?(name: string, done: number, total: number): void;
}

/** Measures what memories keep, replace, bring up and cover, without a language model. */
export async function benchMemory(options: MemoryBenchOptions): Promise<MemoryBench> {
  const { onProgress = () => undefined, database } = options;
  const home = mkdtempSync(join(tmpdir(), "varve-bench-memory-"));
  try {
    const varve = await openVarve({ home, background: false, ...(database === undefined ? {} : { database }) });
    try {
      const pairs = await benchPairs(varve, (done, total) => onProgress("pairs", done, total));
      const prompts = await benchPrompts(varve, (done, total) => onProgress("prompts", done, total));
      const coverage =
        options.data === undefined
          ? {}
          : await benchCoverage(varve, { data: options.data, only: options.only, onProgress });
      return { pairs, prompts, coverage };
    } finally {
      await varve.close();
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
