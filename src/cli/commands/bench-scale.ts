import { writeFileSync } from "node:fs";
import { benchScale, type ScalePart, scaleParts } from "../../benchmarks/index.ts";
import { VarveError } from "../../domain/index.ts";
import { number, outputFor, table } from "../output.ts";
import { startProgress } from "../progress.ts";

const vectorsDefault = 100_000;
/** Ten agents share the messages. */
const sizeStep = 10;

export interface ScaleFlags {
  json?: boolean;
  sizes: string;
  vectors?: number;
  plot?: string;
  only?: string;
  database?: string;
}

/** Measures the same operations at several sizes of one database. */
export async function scaleCommand(flags: ScaleFlags): Promise<void> {
  const output = outputFor(flags);
  const sizes = parseSizes(flags.sizes);
  const file = flags.plot ?? "varve-scale.svg";
  const progress = startProgress("Measuring");
  const measured = await benchScale({
    sizes,
    vectors: flags.vectors ?? vectorsDefault,
    ...(flags.only === undefined ? {} : { only: parseParts(flags.only) }),
    ...(flags.database === undefined ? {} : { database: flags.database }),
    onProgress: (name, done, total) => progress.update(done, total, name),
  });
  progress.finish("Measured");
  const { growth, vectors, svg } = measured;
  if (growth.length > 0) {
    const names = [...new Set(growth.map((result) => result.name))];
    const rows = names.map((name) => {
      const found = sizes.map((size) => growth.find((one) => one.name === name && one.size === size));
      const [ratio, control] = [found.at(-1)?.ratio, found.map((one) => one?.control ?? "")];
      return [
        name,
        ...found.map((one) => one?.value.toLocaleString("en-US") ?? ""),
        found[0]?.unit ?? "",
        control.join(" → ").replace(/^[ →]+$/, ""),
        ratio === undefined ? "" : `${ratio}×`,
      ];
    });
    output.show(table(["WHAT", ...sizes.map((size) => `AT ${number(size)}`), "UNIT", "CONTROL", "GROWTH"], rows));
    output.show("GROWTH is relative to the control, an operation of constant cost that alternated with each.");
    writeFileSync(file, svg);
    output.say(`The plot is in ${file}.`);
  }
  if (vectors.length > 0) {
    const rows = vectors.map(({ name, size, value, unit, ratio }) => [
      ...[name, number(size), value.toLocaleString("en-US"), unit],
      ratio ?? "",
    ]);
    output.show(table(["WHAT", "MESSAGES", "VALUE", "UNIT", "RATIO"], rows));
  }
  output.result({ results: [...growth, ...vectors], ...(growth.length > 0 ? { plot: file } : {}) });
}

function parseSizes(text: string): number[] {
  const sizes = text.split(",").map((one) => Number(one.trim()));
  const isValid = sizes.every(
    (size, index) => Number.isInteger(size) && size >= 1_000 && size % sizeStep === 0 && size > (sizes[index - 1] ?? 0),
  );
  if (isValid) return sizes;
  throw new VarveError("BAD_REQUEST", `--sizes ${text} is not a list of ascending multiples of 10 from 1,000.`, {
    remedy: "Use for example --sizes 10000,100000,1000000: ten agents share the messages of one growing database.",
  });
}

function parseParts(text: string): ScalePart[] {
  const names = text.split(",").map((name) => name.trim());
  const parts = scaleParts.filter((part) => names.includes(part));
  if (parts.length === names.length) return parts;
  throw new VarveError("BAD_REQUEST", `--only ${text} names an unknown part of the benchmark.`, {
    remedy: `Use one or more of ${scaleParts.join(", ")}, comma-separated.`,
  });
}
