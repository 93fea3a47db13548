import { z } from "zod";

const folder = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, "must be letters, digits, - and _, at most 64 of them")
    .refine((name) => name.toLowerCase() !== "memory", "memory is the name of the workspace's own notes"),
  path: z.string().min(1),
  include: z.array(z.string().min(1)).min(1).max(50).optional(),
  agent: z.string().min(1).max(64).optional(),
});

export const searchSection = z.strictObject({
  profile: z
    .enum(["tuned", "classic"])
    .default("tuned")
    .describe(
      "How results are scored: tuned weighs words, meaning, surroundings and who spoke; classic is 0.7 vector and 0.3 BM25.",
    ),
  embedder: z
    .string()
    .regex(
      /^(?:local|none|[A-Za-z0-9][A-Za-z0-9._-]*\/\S+)$/,
      "must be local, none, or a provider and a model such as openai/text-embedding-3-small",
    )
    .default("local")
    .describe(
      "What makes vectors: the model that comes with the package (local), nothing, for words alone (none), or a model as provider/model: openai, google, ollama, voyage, mistral, cohere, or any of models.providers.",
    ),
  embedderFallbacks: z
    .array(
      z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*\/\S+$/, "must be a provider and a model with a / between them"),
    )
    .max(8)
    .default([])
    .describe("Other providers of the same embedding model, asked in this order when the first one cannot."),
  embedderDimensions: z
    .int()
    .min(1)
    .max(16_384)
    .optional()
    .describe("How many numbers a vector of that model has; needed for models that are not well known."),
  embedderCache: z
    .int()
    .min(0)
    .max(100_000_000)
    .default(50_000)
    .describe(
      "How many vectors of models over a network are remembered on disk, in cache/embeddings.db, so that the same text is paid for once; 0 turns it off.",
    ),
  reranker: z
    .string()
    .regex(
      /^(?:none|(?:jina|siliconflow|voyage|pinecone|dashscope|tei)(?:\/\S+)?)$/,
      "must be none or a reranker: jina, siliconflow, voyage, pinecone, dashscope or tei, with /model behind it or not",
    )
    .default("none")
    .describe(
      "What reads the best results together with the question and orders them anew: none, or jina, siliconflow, voyage, pinecone, dashscope, tei, each with /model behind it for another than its usual one.",
    ),
  rerankerTimeoutMs: z
    .int()
    .min(100)
    .max(60_000)
    .default(5_000)
    .describe("How long a search waits for the reranker before it goes on without, in milliseconds."),
  workspace: z
    .string()
    .min(1)
    .optional()
    .describe(
      "A folder with notes that are searched too: MEMORY.md and memory/**/*.md in it. A relative path starts at the home folder.",
    ),
  corpus: z
    .array(folder)
    .max(100)
    .refine((all) => new Set(all.map(({ name, agent }) => `${agent}/${name}`)).size === all.length, {
      error: "must not name two folders alike",
    })
    .default([])
    .describe(
      "Folders that are searched too, each with name, path, include (globs; Markdown and plain text when absent) and agent (whose they are).",
    ),
  chunkTokens: z.int().min(50).max(4_000).default(400).describe("About how many tokens of a file are found as one."),
  chunkOverlap: z
    .int()
    .min(0)
    .max(1_000)
    .default(80)
    .describe("How many tokens of it the next one repeats, at most half of chunkTokens."),
  watchDebounceMs: z
    .int()
    .min(50)
    .max(60_000)
    .default(1_500)
    .describe("How long the gateway waits after a change in these folders before it reads them, in milliseconds."),
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
