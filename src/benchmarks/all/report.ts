import type { AllBench } from "./bench-all.ts";
import type { ScoreRow } from "./targets.ts";

/** The marks between which `varve bench all --write` replaces the text of a page. */
const begin = "<!-- bench all: begin -->";
const end = "<!-- bench all: end -->";

/** The scoreboard as a Markdown table. */
export function formatScores({ scores, skipped }: AllBench): string {
  const rows = scores.map(
    (row) =>
      `| ${row.title}${row.size === undefined ? "" : `, ${row.size.toLocaleString("en-US")}`} | ${formatValue(row)} | ${row.goal} ${row.value.toLocaleString("en-US")}${row.unit && ` ${row.unit}`} | ${row.met ? "yes" : "**no**"} | ${row.ratioMeasured === undefined ? "" : `${row.ratioMeasured}`} |`,
  );
  const met = scores.filter((row) => row.met).length;
  return [
    "| measurement | value | target | met | relative to the baseline |",
    "|---|---|---|---|---|",
    ...rows,
    "",
    `${met} of ${scores.length} targets are met.${skipped.length === 0 ? "" : ` Not measured: ${skipped.join("; ")}.`}`,
  ].join("\n");
}

function formatValue({ measured, unit }: ScoreRow): string {
  return `${measured.toLocaleString("en-US", { maximumFractionDigits: 3 })}${unit && ` ${unit}`}`;
}

/** Replaces the part of a page between the marks; undefined when the page has none. */
export function replaceScores(page: string, text: string): string | undefined {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) return undefined;
  return `${page.slice(0, from + begin.length)}\n${text}\n${page.slice(to)}`;
}
