import type { wrapLanguageModel } from "ai";
import { sdkAccess } from "./auth/credential.ts";
import type { TokenSource } from "./auth/port.ts";
import { loadPackage } from "./packages.ts";
import type { Access } from "./providers.ts";

/** A model of the AI SDK, as its provider's package makes it. */
export type SdkModel = Extract<Parameters<typeof wrapLanguageModel>[0]["model"], { specificationVersion: "v4" }>;

/** What comes out of its stream. */
export type SdkStreamPart =
  Awaited<ReturnType<SdkModel["doStream"]>>["stream"] extends ReadableStream<infer Part> ? Part : never;

type Known = Map<string, Promise<SdkModel>>;
const known: Known = new Map();
/** Those that ask for their key elsewhere: each such place has its own. */
const knownByTokens = new WeakMap<TokenSource, Known>();
const knownMax = 64;

/** The AI SDK's model of a provider, made once for each way to reach it: making one compiles what it reads by. */
export function sdkModel(access: Access, model: string): Promise<SdkModel> {
  const { tokens, ...plain } = access;
  const models = tokens ? (knownByTokens.get(tokens) ?? new Map()) : known;
  if (tokens) knownByTokens.set(tokens, models);
  const name = JSON.stringify([plain, model]);
  const there = models.get(name);
  if (there) return there;
  const made = makeModel(access, model);
  if (models.size >= knownMax) models.clear();
  models.set(name, made);
  // A package that is missing now may be installed later.
  made.catch(() => models.delete(name));
  return made;
}

/** Its package is loaded when it is asked for, and not before. */
async function makeModel(access: Access, model: string): Promise<SdkModel> {
  const { provider, kind, baseUrl } = access;
  const settings = sdkAccess(access);
  switch (kind) {
    case "anthropic": {
      const { createAnthropic } = await loadPackage("@ai-sdk/anthropic", () => import("@ai-sdk/anthropic"));
      return createAnthropic(settings)(model);
    }
    case "openai": {
      const { createOpenAI } = await loadPackage("@ai-sdk/openai", () => import("@ai-sdk/openai"));
      // The newer interface keeps what it is sent unless told otherwise; this one does not.
      return createOpenAI(settings).chat(model);
    }
    case "google": {
      const { createGoogle } = await loadPackage("@ai-sdk/google", () => import("@ai-sdk/google"));
      return createGoogle(settings)(model);
    }
    default: {
      const name = "@ai-sdk/openai-compatible";
      const { createOpenAICompatible } = await loadPackage(name, () => import("@ai-sdk/openai-compatible"));
      return createOpenAICompatible({ ...settings, name: provider, baseURL: baseUrl ?? "", includeUsage: true })(model);
    }
  }
}
