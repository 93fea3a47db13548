import { benchContext } from "../context.ts";
import { benchMemory } from "../memory/index.ts";
import { plotLines } from "../plot.ts";
import { benchRecall, type RecallBench } from "../recall.ts";
import { type BenchResult, round } from "../result.ts";
import { benchSpeed } from "../speed.ts";
import { benchTurns, type TurnsBenchOptions } from "../turns.ts";
import { benchMeaning } from "./meaning.ts";
import { type ScoreRow, scoreResults } from "./targets.ts";

export const allParts = ["speed", "meaning", "recall", "context", "memory", "turns"] as const;
export type AllPart = (typeof allParts)[number];

export interface AllBenchOptions {
  /** A folder of datasets; without it recall and context are not measured. */
  data?: string;
  only?: readonly AllPart[];
  sizes: number[];
  meaningSize: number;
  turns: TurnsBenchOptions;
  onProgress(name: string, done: number, total: number): void;
}

export interface AllBench {
  scores: ScoreRow[];
  results: AnyResult[];
  /** Cost against size, as SVG. */
  plot: string;
  /** Parts that were left out, and why. */
  skipped: string[];
}

type AnyResult = Omit<BenchResult, "size"> & { size?: number };

/** Runs every measurement and compares it with its target. */
export async function benchAll(options: AllBenchOptions): Promise<AllBench> {
  const { data, onProgress } = options;
  const wants = (part: AllPart) => options.only?.includes(part) ?? true;
  const results: AnyResult[] = [];
  const skipped: string[] = [];
  if (wants("speed")) results.push(...(await benchSpeed({ sizes: options.sizes, onProgress })).results);
  if (wants("meaning")) {
    onProgress("time to meaning", 0, 1);
    results.push(...(await benchMeaning(options.meaningSize)));
  }
  if (data === undefined) {
    for (const part of ["recall", "context"] as const) if (wants(part)) skipped.push(`${part}: needs --data`);
  } else {
    if (wants("recall")) results.push(...listRecall(await benchRecall({ data, baselines: true, onProgress })));
    if (wants("context")) {
      const { datasets } = await benchContext({
        data,
        only: ["locomo", "beam-100k"],
        budgets: [8_000],
        onProgress,
      });
      for (const [name, { budgets }] of Object.entries(datasets)) {
        const figures = budgets["8000"];
        if (!figures) continue;
        results.push({ name: `context.${name}`, value: figures.evidenceInView, unit: "" });
        results.push({ name: `reachable.${name}`, value: figures.reachable, unit: "" });
      }
    }
  }
  if (wants("memory")) {
    const { pairs, prompts } = await benchMemory({ onProgress });
    const noise = Math.max(...Object.values(prompts).map((figures) => figures.noise));
    results.push({ name: "memory.different", value: pairs.all?.differentKept ?? 0, unit: "" });
    results.push({ name: "memory.updates", value: pairs.all?.replacing.recall ?? 0, unit: "" });
    results.push({ name: "memory.noise", value: noise, unit: "" });
    results.push({ name: "memory.found", value: prompts.en?.found ?? 0, unit: "" });
  }
  if (wants("turns")) results.push(...(await benchTurns({ ...options.turns, onProgress })));
  return { scores: scoreResults(results), results, plot: plotCosts(results), skipped };
}

function listRecall({ datasets, baselines, abstention }: RecallBench): AnyResult[] {
  const results: AnyResult[] = [];
  for (const [name, { recall, ndcg10, msPerQuery }] of Object.entries(datasets)) {
    for (const depth of ["5", "10", "20"]) {
      results.push({ name: `recall.${name}.${depth}`, value: recall[depth] ?? 0, unit: "" });
    }
    results.push({ name: `recall.${name}.ndcg`, value: ndcg10, unit: "" });
    results.push({ name: `recall.${name}.p95`, value: msPerQuery.p95, unit: "ms" });
    const [full, plain, instant] = [
      recall["10"] ?? 0,
      baselines["bm25-or"]?.[name]?.recall["10"],
      baselines.instant?.[name]?.recall["10"],
    ];
    if (plain !== undefined) results.push({ name: `gain.${name}`, value: round(full - plain), unit: "" });
    if (instant !== undefined) results.push({ name: `instant.${name}`, value: round(full - instant), unit: "" });
    const { auroc } = abstention[name] ?? {};
    if (typeof auroc === "number") results.push({ name: `auroc.${name}`, value: auroc, unit: "" });
  }
  return results;
}

/** Cost of one operation against the size of the store: microseconds a message, milliseconds a call. */
function plotCosts(results: readonly AnyResult[]): string {
  const series = (title: string, name: string, cost: (value: number, size: number) => number) => ({
    name: title,
    points: results.flatMap((one) =>
      one.name === name && one.size !== undefined ? [{ x: one.size, y: cost(one.value, one.size) }] : [],
    ),
  });
  const lines = [
    series("ingest, ms for 100 messages", "ingest.batch", (perSecond) => 100_000 / perSecond),
    series("assemble, ms p95", "assemble", (ms) => ms),
    series("hybrid search, ms p95", "hybrid.p95", (ms) => ms),
    series("full text, ms p95", "fulltext", (ms) => ms),
    series("sweep, ms for 1,000 messages", "sweep", (seconds, size) => (seconds * 1_000_000) / size),
  ].filter(({ points }) => points.length > 0);
  return plotLines(lines, {
    title: "Cost against size",
    xLabel: "messages in the store",
    yLabel: "milliseconds",
    xScale: "log",
    yScale: "log",
  });
}
