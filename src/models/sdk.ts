import type { LanguageModelMiddleware, wrapLanguageModel } from "ai";
import { LRUCache } from "lru-cache";
import { VarveError } from "../domain/index.ts";
import { toSdkOptions } from "./auth/credential.ts";
import type { TokenSource } from "./auth/port.ts";
import type { Access } from "./providers.ts";

/** A language model of the AI SDK. */
export type SdkModel = Extract<Parameters<typeof wrapLanguageModel>[0]["model"], { specificationVersion: "v4" }>;

/** The parts of its stream. */
export type SdkStreamPart =
  Awaited<ReturnType<SdkModel["doStream"]>>["stream"] extends ReadableStream<infer Part> ? Part : never;

const modelsMax = 64;
const createModelCache = () => new LRUCache<string, Promise<SdkModel>>({ max: modelsMax });
const cache = createModelCache();
/** Models that use a token source, by source. */
const cachesByTokens = new WeakMap<TokenSource, ReturnType<typeof createModelCache>>();

/** Creates the SDK model of a provider, cached by access, because creating one compiles its schemas. */
export function getSdkModel(access: Access, model: string): Promise<SdkModel> {
  const { tokens, ...plain } = access;
  const models = tokens ? (cachesByTokens.get(tokens) ?? createModelCache()) : cache;
  if (tokens) cachesByTokens.set(tokens, models);
  const name = JSON.stringify([plain, model]);
  const cached = models.get(name);
  if (cached) return cached;
  const created = createModel(access, model);
  models.set(name, created);
  // A missing package may be installed later.
  created.catch(() => models.delete(name));
  return created;
}

/** Loads the provider's package on demand. */
async function createModel(access: Access, model: string): Promise<SdkModel> {
  const { provider, kind, baseUrl } = access;
  const settings = toSdkOptions(access);
  switch (kind) {
    case "anthropic": {
      const { createAnthropic } = await loadPackage("@ai-sdk/anthropic", () => import("@ai-sdk/anthropic"));
      return createAnthropic(settings)(model);
    }
    case "openai": {
      const { createOpenAI } = await loadPackage("@ai-sdk/openai", () => import("@ai-sdk/openai"));
      // The Responses API stores requests by default; Chat Completions does not.
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

/** Loads an optional package. When it is missing, the error names it and how to install it. */
export async function loadPackage<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") throw error;
    throw new VarveError("MISSING_PACKAGE", `The package ${name} is required for this model and is not installed.`, {
      remedy: `Run \`npm install ${name === "ai" ? name : `ai ${name}`}\` where varve is installed.`,
      cause: error,
      details: { package: name },
    });
  }
}

/**
 * Collects the warnings of a provider's package from the stream, so that they become notes of the answer. The SDK would
 * print them as process warnings, which a program that embeds Varve did not ask for.
 */
export function collectWarnings(warnings: string[]): LanguageModelMiddleware {
  return {
    specificationVersion: "v4",
    wrapStream: async ({ doStream }) => {
      const { stream, ...rest } = await doStream();
      const quiet = new TransformStream<SdkStreamPart, SdkStreamPart>({
        transform(part, controller) {
          if (part.type !== "stream-start") return controller.enqueue(part);
          warnings.push(...part.warnings.map(describeWarning));
          controller.enqueue({ ...part, warnings: [] });
        },
      });
      return { ...rest, stream: stream.pipeThrough(quiet) };
    },
  };
}

/** A warning as a note for people. */
export function describeWarning(warning: {
  type: string;
  feature?: string;
  details?: string;
  message?: string;
}): string {
  const { type, feature, details, message } = warning;
  const about = feature === undefined ? type : `${feature} (${type})`;
  const text = message ?? details;
  return `The provider warned of ${about}${text === undefined ? "" : `: ${text}`}`;
}
