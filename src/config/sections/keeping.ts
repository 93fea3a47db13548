import { z } from "zod";
import { durationMs } from "../duration.ts";

/** What comes in from files and what is taken out again. */
export const importSection = z.strictObject({
  batchSize: z
    .int()
    .min(1)
    .max(10_000)
    .default(500)
    .describe("How many entries of an import are written in one transaction."),
});

export const retentionSection = z.strictObject({
  after: z
    .string()
    .refine((text) => durationMs(text) !== undefined, "must be a length of time, such as 90d, 12w or 36h")
    .optional()
    .describe("Conversations that were quiet for so long are archived by `varve maintain`. Never when not set."),
  keep: z
    .array(z.string().min(1))
    .default([])
    .describe("Session keys that are never archived; * stands for any characters, as in agent:main:*."),
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
