import { expect, test } from "vitest";
import { scoreResults, targets } from "./targets.ts";

test("every target has a name of its own", () => {
  expect(new Set(targets.map(({ result }) => result)).size).toBe(targets.length);
});

test("results are compared with the target of their size, by value or by ratio", () => {
  const rows = scoreResults([
    { name: "ingest.batch", size: 10_000, value: 9_000, ratio: 0.8 },
    { name: "ingest.batch", size: 100_000, value: 9_000, ratio: 0.7 },
    { name: "hybrid.p95", size: 100_000, value: 41 },
    { name: "recall.locomo.10", value: 0.84 },
    { name: "unknown", value: 1 },
  ]);
  expect(rows.map(({ result, measured, met }) => [result, measured, met])).toEqual([
    ["ingest.batch@10000", 0.8, true],
    ["ingest.batch@100000", 0.7, false],
    ["hybrid.p95@100000", 41, false],
    ["recall.locomo.10", 0.84, true],
  ]);
});
