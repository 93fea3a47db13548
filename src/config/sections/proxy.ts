import { z } from "zod";

const address = z
  .string()
  .refine(
    (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
    "must be a URL that starts with http:// or https://",
  );

/** The model proxy between a client and its provider. */
export const proxySection = z.strictObject({
  enabled: z.boolean().default(true).describe("Whether the gateway offers the model proxy."),
  requireToken: z
    .boolean()
    .default(false)
    .describe(
      "Whether every request needs an access token of the gateway. On an address other than loopback it always does.",
    ),
  trust: z
    .enum(["untrusted", "owner"])
    .default("untrusted")
    .describe(
      "Whose words a client without an access token sends: untrusted, which are kept in conversations of their provider key and teach nothing about the owner; or owner, where only the owner's programs can reach the gateway.",
    ),
  requestsPerMinute: z
    .int()
    .min(1)
    .default(600)
    .describe("The maximum requests per minute without an access token, per provider key and per address."),
  anthropic: z
    .strictObject({
      baseUrl: address
        .default("https://api.anthropic.com")
        .describe("Where requests to /proxy/anthropic are forwarded; /v1/messages is appended."),
    })
    .prefault({}),
  openai: z
    .strictObject({
      baseUrl: address
        .default("https://api.openai.com/v1")
        .describe("Where requests to /proxy/openai are forwarded; /chat/completions is appended."),
    })
    .prefault({}),
  windowTokens: z
    .int()
    .min(1_000)
    .optional()
    .describe("The context window of the proxied models, in tokens. Default: learned from the provider's errors."),
  recallTools: z
    .boolean()
    .default(true)
    .describe("Whether models are offered tools to read what summaries replaced; the proxy executes them."),
  recallRoundsMax: z
    .int()
    .min(1)
    .max(50)
    .default(8)
    .describe("How many recall tool calls a model may make in one reply before the tools are withheld."),
  bodyLimitBytes: z
    .int()
    .min(1024)
    .default(32 * 1024 * 1024)
    .describe("The maximum request size of the proxy, in bytes; every request contains its whole history."),
  upstreamTimeoutMs: z
    .int()
    .min(100)
    .default(600_000)
    .describe("How long the provider may stay silent before a request is aborted, in milliseconds."),
  engineTimeoutMs: z
    .int()
    .min(100)
    .default(120_000)
    .describe("How long fitting a request into the window may take before it is forwarded unchanged, in milliseconds."),
  sessionsInMemory: z
    .int()
    .min(1)
    .default(64)
    .describe("How many conversations the proxy keeps in memory; others are read from the store again."),
});
