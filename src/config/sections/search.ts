import { z } from "zod";

export const searchSection = z.strictObject({
  profile: z
    .enum(["tuned", "classic"])
    .default("tuned")
    .describe(
      "How results are scored: tuned weighs words, meaning, surroundings and who spoke; classic is 0.7 vector and 0.3 BM25.",
    ),
  embedder: z
    .enum(["local", "none"])
    .default("local")
    .describe("What makes vectors: the model that comes with the package (local), or nothing, for words alone (none)."),
  limit: z.int().min(1).max(1000).default(10).describe("How many results a search gives when it does not say."),
  freshMax: z
    .int()
    .min(0)
    .max(100_000)
    .default(100)
    .describe(
      "Up to this many messages without a vector are embedded before a search; more are left to `varve index` and the gateway.",
    ),
  followMs: z
    .int()
    .min(100)
    .max(3_600_000)
    .default(2_000)
    .describe("How long the gateway waits before it looks again for messages without a vector, in milliseconds."),
});
