import { type PlotSeries, plotLines } from "../plot.ts";
import type { BenchResult } from "../result.ts";
import { benchGrowth, type GrowthResult } from "./growth.ts";
import type { BenchTarget } from "./open-bench.ts";
import { benchVectors } from "./vectors.ts";

export const scaleParts = ["growth", "vectors"] as const;
export type ScalePart = (typeof scaleParts)[number];

export interface ScaleOptions extends BenchTarget {
  /** Numbers of messages, ascending. */
  sizes: readonly number[];
  /** Messages with vectors, of one agent and of many. */
  vectors: number;
  /** Only these parts; all when absent. */
  only?: readonly ScalePart[];
}

export interface ScaleBench {
  growth: GrowthResult[];
  vectors: BenchResult[];
  /** The growth table as a plot. */
  svg: string;
}

const agents = 1_000;

/** Measures each operation while the database grows, and searches by meaning over many vectors. */
export async function benchScale(options: ScaleOptions): Promise<ScaleBench> {
  const { sizes, database, onProgress } = options;
  const wants = (part: ScalePart) => options.only?.includes(part) ?? true;
  const target = { onProgress, ...(database === undefined ? {} : { database }) };
  const growth = wants("growth") ? await benchGrowth({ sizes, ...target }) : [];
  const vectors = wants("vectors")
    ? await benchVectors({ messages: options.vectors, agents, mustBeEmpty: !wants("growth"), ...target })
    : [];
  return { growth, vectors, svg: plotGrowth(growth) };
}

/** One line for each operation: its median by the size of the database. */
function plotGrowth(results: readonly BenchResult[]): string {
  const series: PlotSeries[] = [];
  for (const name of new Set(results.map((result) => result.name))) {
    if (!name.endsWith(".p50")) continue;
    const rows = results.filter((result) => result.name === name);
    series.push({
      name: name.slice(0, -".p50".length),
      points: rows.map(({ size, value }) => ({ x: size, y: value })),
    });
  }
  return plotLines(series, {
    title: "Median duration by messages in the database",
    xLabel: "messages",
    yLabel: "ms",
    xScale: "log",
    yScale: "log",
  });
}
