import type { wrapLanguageModel } from "ai";
import { boundedFetch } from "./bounded-fetch.ts";
import { loadPackage } from "./packages.ts";
import type { Access } from "./providers.ts";

/** A model of the AI SDK, as its provider's package makes it. */
export type SdkModel = Extract<Parameters<typeof wrapLanguageModel>[0]["model"], { specificationVersion: "v4" }>;

/** What comes out of its stream. */
export type SdkStreamPart =
  Awaited<ReturnType<SdkModel["doStream"]>>["stream"] extends ReadableStream<infer Part> ? Part : never;

const known = new Map<string, Promise<SdkModel>>();
const knownMax = 64;

/** The AI SDK's model of a provider, made once for each way to reach it: making one compiles what it reads by. */
export function sdkModel(access: Access, model: string): Promise<SdkModel> {
  const name = JSON.stringify([access, model]);
  const there = known.get(name);
  if (there) return there;
  const made = makeModel(access, model);
  if (known.size >= knownMax) known.clear();
  known.set(name, made);
  // A package that is missing now may be installed later.
  made.catch(() => known.delete(name));
  return made;
}

/** Its package is loaded when it is asked for, and not before. */
async function makeModel({ provider, kind, apiKey, baseUrl }: Access, model: string): Promise<SdkModel> {
  const settings = { apiKey, baseURL: baseUrl, fetch: boundedFetch };
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
