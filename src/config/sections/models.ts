import { z } from "zod";
import { maskProviders, secrets } from "../secrets.ts";
import { authSetting } from "./auth.ts";

const reference = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]*\/\S+$/,
    "must be a provider and a model with a / between them, such as anthropic/claude-haiku-4-5",
  );
const fallbacks = z.array(reference).max(8).default([]);

const provider = z.strictObject({
  apiKey: z.string().min(1).optional(),
  auth: z.string().min(1).optional(),
  baseUrl: z.string().refine(isWebAddress, "must be an address that begins with http:// or https://").optional(),
  kind: z.enum(["anthropic", "openai", "google", "ollama", "openai-compatible"]).optional(),
});

/** Which models write what. Without any, what is built in does the work. */
export const modelsSection = z.strictObject({
  chat: reference
    .optional()
    .describe(
      "The model that replies, as provider/model. When not set, the first provider with a key in the environment: Anthropic, OpenAI, Google.",
    ),
  chatFallbacks: fallbacks.describe("Models that reply when the first one cannot, in this order."),
  windows: z
    .record(reference, z.int().min(1))
    .default({})
    .describe("How many tokens models take, by provider/model; above what the catalogue says."),
  backgroundTokensPerDay: z
    .int()
    .min(0)
    .optional()
    .describe(
      "What models may read and write in a day for summaries, files and memories together, in tokens. Replies are never held back.",
    ),
  summary: reference
    .optional()
    .describe("The model that writes summaries, as provider/model. The built-in summariser does it when not set."),
  summaryFallbacks: fallbacks.describe("Models that write summaries when the first one cannot, in this order."),
  largeFile: reference
    .optional()
    .describe("The model that describes large files, as provider/model. They are described without one when not set."),
  largeFileFallbacks: fallbacks.describe("Models that describe large files when the first one cannot, in this order."),
  expansion: reference
    .optional()
    .describe(
      "The model that answers questions from the history, as provider/model. Passages are returned when not set.",
    ),
  expansionFallbacks: fallbacks.describe(
    "Models that answer from the history when the first one cannot, in this order.",
  ),
  memory: reference
    .optional()
    .describe(
      "The model that draws memories from conversations and reconciles them, as provider/model. Built-in rules do it when not set.",
    ),
  memoryFallbacks: fallbacks.describe("Models that work on memories when the first one cannot, in this order."),
  auth: authSetting,
  providers: z
    .record(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "must be letters, digits, ., - and _"), provider)
    .default({})
    .describe(
      "How providers are reached, by name: apiKey (the key, or env: and the variable that holds it), auth (a name in models.auth), baseUrl, and kind for names that are not a kind themselves.",
    )
    .register(secrets, { mask: maskProviders }),
});

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
