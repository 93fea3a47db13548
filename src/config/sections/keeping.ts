import { z } from "zod";

/** What comes in from files and what is taken out again. */
export const importSection = z.strictObject({
  batchSize: z
    .int()
    .min(1)
    .max(10_000)
    .default(500)
    .describe("How many entries of an import are written in one transaction."),
});

export const cronSection = z.strictObject({
  runLogMaxBytes: z.int().min(0).default(2_000_000).describe("How many bytes of run log a scheduled job keeps."),
  runLogMaxRows: z.int().min(0).default(2_000).describe("How many rows of run log a scheduled job keeps."),
});

export const logSection = z.strictObject({
  level: z
    .enum(["silent", "fatal", "error", "warn", "info", "debug", "trace"])
    .default("info")
    .describe("The least important kind of line that is logged."),
});
