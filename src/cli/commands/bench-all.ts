import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type AllPart, allParts, benchAll, formatScores, replaceScores } from "../../benchmarks/index.ts";
import { VarveError } from "../../domain/index.ts";
import { number, outputFor } from "../output.ts";
import { startProgress } from "../progress.ts";
import { type BenchFlags, parseSizes, turnsBench } from "./bench-flags.ts";

const meaningSize = 100_000;

/** Runs every benchmark and shows one table with the targets. */
export async function allCommand(flags: BenchFlags): Promise<void> {
  const only = flags.only?.split(",").map((name) => parsePart(name.trim()));
  const page = flags.write === undefined ? undefined : readPage(flags.write);
  const output = outputFor(flags);
  const progress = startProgress("Measuring");
  const measured = await benchAll({
    data: flags.data,
    ...(only ? { only } : {}),
    sizes: parseSizes(flags),
    meaningSize,
    turns: turnsBench,
    onProgress: (name, done, total) => progress.update(done, total, `${name}, ${number(done)} of ${number(total)}`),
  });
  progress.finish("Measured");
  const text = formatScores(measured);
  output.show(text);
  if (flags.plot !== undefined) writeFileSync(flags.plot, measured.plot);
  if (flags.write !== undefined && page !== undefined) writeFileSync(flags.write, replaceScores(page, text) ?? page);
  output.result(measured);
}

function parsePart(name: string): AllPart {
  const part = allParts.find((one) => one === name);
  if (part) return part;
  throw new VarveError("BAD_REQUEST", `--only ${name}: this is no part of the benchmark.`, {
    remedy: `Use one or more of ${allParts.join(", ")}, comma-separated.`,
  });
}

/** Checked before the measurement, which takes minutes. */
function readPage(file: string): string {
  const page = existsSync(file) ? readFileSync(file, "utf8") : "";
  if (replaceScores(page, "") !== undefined) return page;
  throw new VarveError("BAD_REQUEST", `${file} has no place for the table.`, {
    remedy: "Add the lines <!-- bench all: begin --> and <!-- bench all: end --> to it.",
  });
}
