import { z } from "zod";

const address = z
  .string()
  .refine(
    (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
    "must be an address that begins with http:// or https://",
  );

/** The model proxy: what stands between a client and its provider. */
export const proxySection = z.strictObject({
  enabled: z.boolean().default(true).describe("Whether the gateway offers the model proxy."),
  anthropic: z
    .strictObject({
      baseUrl: address
        .default("https://api.anthropic.com")
        .describe("Where requests to /proxy/anthropic go on to; /v1/messages is put behind it."),
    })
    .prefault({}),
  openai: z
    .strictObject({
      baseUrl: address
        .default("https://api.openai.com/v1")
        .describe("Where requests to /proxy/openai go on to; /chat/completions is put behind it."),
    })
    .prefault({}),
  windowTokens: z
    .int()
    .min(1_000)
    .optional()
    .describe("The context window of the models behind the proxy. Learned from the provider's errors when not set."),
  recallTools: z
    .boolean()
    .default(true)
    .describe("Whether models are offered tools to open what was replaced by summaries; the proxy answers them."),
  recallRoundsMax: z
    .int()
    .min(1)
    .max(50)
    .default(8)
    .describe("How often in one reply a model may look something up before the tools are withheld."),
  bodyLimitBytes: z
    .int()
    .min(1024)
    .default(32 * 1024 * 1024)
    .describe("The largest request the proxy reads, in bytes: each brings its whole history."),
  upstreamTimeoutMs: z
    .int()
    .min(100)
    .default(600_000)
    .describe("How long the provider may stay silent before a request is given up, in milliseconds."),
  engineTimeoutMs: z
    .int()
    .min(100)
    .default(120_000)
    .describe("How long making a request fit may take before it is forwarded unchanged, in milliseconds."),
  sessionsInMemory: z
    .int()
    .min(1)
    .default(64)
    .describe("How many conversations the proxy remembers the last state of; others are read from the store again."),
});
