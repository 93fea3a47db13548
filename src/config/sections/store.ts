import { z } from "zod";

export const storeSection = z.strictObject({
  busyTimeoutMs: z
    .int()
    .min(0)
    .max(600_000)
    .default(5_000)
    .describe("How long a write waits for another process to finish its own, in milliseconds."),
  readers: z.int().min(1).max(16).default(1).describe("How many threads read an SQLite file beside its one writer."),
  cacheMiB: z
    .int()
    .min(1)
    .max(65_536)
    .default(64)
    .describe("How much of an SQLite file each connection keeps in memory, in MiB."),
  poolSize: z.int().min(1).max(1000).default(10).describe("How many connections to PostgreSQL are kept at most."),
});
