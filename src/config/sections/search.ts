import { z } from "zod";

const folder = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, "must be at most 64 letters, digits, - and _")
    .refine(
      (name) => name.toLowerCase() !== "memory",
      "must not be memory, which is the name of the workspace's own notes",
    ),
  path: z.string().min(1),
  include: z.array(z.string().min(1)).min(1).max(50).optional(),
  agent: z.string().min(1).max(64).optional(),
});

export const searchSection = z.strictObject({
  profile: z
    .enum(["tuned", "classic"])
    .default("tuned")
    .describe(
      "How results are scored: tuned combines words, embeddings, context and speaker; classic is 0.7 vector and 0.3 BM25.",
    ),
  embedder: z
    .string()
    .regex(
      /^(?:local|none|[A-Za-z0-9][A-Za-z0-9._-]*\/\S+)$/,
      "must be local, none, or a provider and a model such as openai/text-embedding-3-small",
    )
    .default("local")
    .describe(
      "What computes embeddings: the model included in the package (local), nothing (none, for search by words only), or a model as provider/model: openai, google, ollama, voyage, mistral, cohere, or any of models.providers.",
    ),
  instant: z
    .boolean()
    .default(true)
    .describe(
      "Whether messages that the embedding model has not reached are found by instant vectors: the weighted mean of a vector for each word, computed without a model.",
    ),
  embedderFallbacks: z
    .array(
      z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*\/\S+$/, "must be a provider and a model with a / between them"),
    )
    .max(8)
    .default([])
    .describe("Other providers of the same embedding model, tried in this order."),
  embedderDimensions: z
    .int()
    .min(1)
    .max(16_384)
    .optional()
    .describe("The number of dimensions of the embedding model; required for models that Varve does not know."),
  embedderCache: z
    .int()
    .min(0)
    .max(100_000_000)
    .default(50_000)
    .describe(
      "How many embeddings of remote models are cached on disk, in cache/embeddings.db, so that the same text is paid for once; 0 turns the cache off.",
    ),
  reranker: z
    .string()
    .regex(
      /^(?:none|(?:jina|siliconflow|voyage|pinecone|dashscope|tei)(?:\/\S+)?)$/,
      "must be none or a reranker: jina, siliconflow, voyage, pinecone, dashscope or tei, optionally followed by /model",
    )
    .default("none")
    .describe(
      "The model that reranks the best results: none, or jina, siliconflow, voyage, pinecone, dashscope or tei, optionally followed by /model.",
    ),
  rerankerTimeoutMs: z
    .int()
    .min(100)
    .max(60_000)
    .default(5_000)
    .describe("How long a search waits for the reranker before it continues without it, in milliseconds."),
  workspace: z
    .string()
    .min(1)
    .optional()
    .describe(
      "A folder with notes to search: its MEMORY.md and memory/**/*.md. A relative path starts at the home folder.",
    ),
  corpus: z
    .array(folder)
    .max(100)
    .refine((all) => new Set(all.map(({ name, agent }) => `${agent}/${name}`)).size === all.length, {
      error: "must not have two folders with the same name",
    })
    .default([])
    .describe(
      "Folders to search, each with name, path, include (globs; default: Markdown and plain text) and agent (the owner).",
    ),
  chunkTokens: z
    .int()
    .min(50)
    .max(4_000)
    .default(400)
    .describe("The approximate size of a chunk of a file, in tokens."),
  chunkOverlap: z
    .int()
    .min(0)
    .max(1_000)
    .default(80)
    .describe("How many tokens consecutive chunks share; at most half of chunkTokens."),
  watchDebounceMs: z
    .int()
    .min(50)
    .max(60_000)
    .default(1_500)
    .describe("How long the gateway waits after a change in these folders before it reads them, in milliseconds."),
  regexTimeoutMs: z
    .int()
    .min(10)
    .max(600_000)
    .default(10_000)
    .describe(
      "How long the texts of one search by a regular expression are matched, in milliseconds; then it returns what it found.",
    ),
  regexConcurrency: z
    .int()
    .min(1)
    .max(64)
    .default(2)
    .describe("How many searches by regular expressions run at the same time; others wait, callers take turns."),
  regexPerCaller: z
    .int()
    .min(1)
    .max(64)
    .default(1)
    .describe("How many searches by regular expressions one access token may run at the same time; others wait."),
  regexWaiting: z
    .int()
    .min(1)
    .max(10_000)
    .default(100)
    .describe("How many searches by regular expressions of one access token may wait; more are refused."),
  vectorCacheMiB: z
    .int()
    .min(1)
    .max(1_048_576)
    .default(96)
    .describe(
      "How much memory a process uses for vectors of messages, in MiB; those that were not used for longest are evicted. PostgreSQL with pgvector compares vectors itself and needs none.",
    ),
  limit: z.int().min(1).max(1000).default(10).describe("The number of results, when a search does not specify it."),
  freshMax: z
    .int()
    .min(0)
    .max(100_000)
    .default(100)
    .describe(
      "Up to this many messages without an embedding are embedded before a search; more are left to `varve index` and the gateway.",
    ),
});
