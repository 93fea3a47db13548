import type { WorkBench } from "../../benchmarks/index.ts";
import { number, table } from "../output.ts";

const missingShown = 20;

/** The share of each kind of item in view, by budget, and on request what is missing. */
export function printWork(work: WorkBench, showMissing: boolean): string {
  const rows = Object.entries(work.budgets).flatMap(([budget, { usedShare, kinds }]) =>
    Object.entries(kinds).map(([kind, { view, window, previous, count, atRisk }]) => [
      kind,
      number(Number(budget)),
      percent(view),
      percent(window),
      percent(previous),
      number(count),
      number(atRisk),
      // Where everything fits, the share says only how long the transcripts are.
      work.compacted[budget] === 0 ? "–" : percent(usedShare),
    ]),
  );
  const sizes = Object.entries(work.compacted).map(([budget, count]) => `${count} over ${number(Number(budget))}`);
  const skipped = work.skipped.length === 0 ? "" : `; skipped: ${work.skipped.length}`;
  return [
    `${work.transcripts} transcripts (tokens: ${sizes.join(", ")})${skipped}`,
    table(["KIND", "BUDGET", "THIS", "WINDOW", "BEFORE", "ITEMS", "AT RISK", "BUDGET USED"], rows),
    ...(showMissing ? printMissing(work) : []),
  ].join("\n");
}

function printMissing(work: WorkBench): string[] {
  return Object.entries(work.budgets).flatMap(([budget, { missing }]) => {
    const groups = Object.entries(Object.groupBy(missing, (one) => one.kind));
    return groups.flatMap(([kind, items = []]) => [
      `\nNot in view at ${number(Number(budget))} tokens, ${kind}: ${number(items.length)}`,
      ...items.slice(0, missingShown).map(({ item }) => `  ${cut(item)}`),
      ...(items.length > missingShown ? [`  … and ${number(items.length - missingShown)} more (all with --json)`] : []),
    ]);
  });
}

function cut(item: string): string {
  const line = item.replace(/\s+/g, " ");
  return line.length > 160 ? `${line.slice(0, 159)}…` : line;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)}%`;
}
