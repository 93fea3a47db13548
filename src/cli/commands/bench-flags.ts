import { VarveError } from "../../domain/index.ts";

export interface BenchFlags {
  json?: boolean;
  sizes: string;
  vectors?: number;
  large?: boolean;
  data?: string;
  baselines?: boolean;
  database?: string;
  think?: number;
  seconds?: number;
  datasets?: string;
  only?: string;
  budgets?: string;
  missing?: boolean;
  write?: string;
  plot?: string;
}

/** Fifty concurrent conversations with a model that takes 300 ms, and a pause of about a second between messages. */
export const turnsBench = { conversations: 50, turns: 10, latencyMs: 300, thinkMs: 1_000 };

/** The sizes of the speed measurements. */
export function parseSizes(flags: BenchFlags): number[] {
  const sizes = flags.sizes.split(",").map((text) => Number(text.trim()));
  if (sizes.some((size) => !Number.isInteger(size) || size < 100)) {
    throw new VarveError(
      "BAD_REQUEST",
      `--sizes ${flags.sizes} is not a comma-separated list of whole numbers from 100.`,
      {
        remedy: "Use for example --sizes 10000,100000.",
      },
    );
  }
  if (flags.large) sizes.push(1_000_000);
  return sizes;
}
