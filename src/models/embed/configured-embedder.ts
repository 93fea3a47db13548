import { join } from "node:path";
import type { Config, Environment } from "../../config/index.ts";
import { systemClock, VarveError } from "../../domain/index.ts";
import { type ProviderSources, resolveAccess } from "../providers.ts";
import { CachedEmbedder } from "./cached-embedder.ts";
import { EmbeddingCache } from "./embedding-cache.ts";
import type { Embedder } from "./port.ts";
import { RemoteEmbedder, type RemoteEmbedderOptions } from "./remote-embedder.ts";
import { embedWithSdk } from "./sdk-embedding.ts";

export interface ConfiguredEmbedderOptions
  extends Pick<RemoteEmbedderOptions, "limits" | "clock" | "random" | "sleep"> {
  /** The folder with `credentials.yaml` and the cache. */
  home: string;
  env?: Environment;
}

/**
 * The embedder that `search.embedder` names as provider/model. Keys are resolved and packages loaded on the first call.
 * Fallbacks are other servers of the same model, because another model is a different vector space. Results are cached
 * on disk, because they cost money.
 */
export function openConfiguredEmbedder(
  settings: Pick<Config, "models" | "search">,
  { home, env = process.env, ...options }: ConfiguredEmbedderOptions,
): Embedder {
  const { embedder, embedderFallbacks, embedderDimensions, embedderCache } = settings.search;
  const first = parseModelName(embedder);
  const known = getDimensions(first.model);
  const dimensions = embedderDimensions ?? known;
  if (dimensions === undefined) {
    throw new VarveError("BAD_CONFIG", `The number of dimensions of ${embedder} is not known.`, {
      remedy: "Set search.embedderDimensions.",
    });
  }
  const all = [first, ...embedderFallbacks.map(parseModelName)];
  const stranger = all.find(({ model }) => normaliseModelName(model) !== normaliseModelName(first.model));
  if (stranger) {
    throw new VarveError("BAD_CONFIG", `${stranger.name} is a different model from ${embedder}.`, {
      remedy:
        "Use only other providers of the same model in search.embedderFallbacks: vectors of different models cannot be compared.",
    });
  }
  const { providers, auth } = settings.models;
  const sources: ProviderSources = { providers: addKnownUrls(providers), auth, env, home };
  const remote = new RemoteEmbedder({
    ...options,
    space: { provider: first.provider, model: first.model, dimensions, tokenDimensions: 0 },
    ...(known !== undefined && dimensions !== known ? { dimensions } : {}),
    sources: all.map(({ name, provider, model }) => ({
      name,
      call: (call) => embedWithSdk(resolveAccess(provider, sources), model, call),
    })),
  });
  if (embedderCache === 0) return remote;
  const file = join(home, "cache", "embeddings.db");
  return new CachedEmbedder(remote, new EmbeddingCache(file, embedderCache, options.clock ?? systemClock));
}

/** Whether a provider can be called for embeddings with these settings. */
export function hasEmbeddingAccess(
  provider: string,
  { providers, auth }: Config["models"],
  home: string,
  env: Environment = process.env,
): boolean {
  try {
    resolveAccess(provider, { providers: addKnownUrls(providers), auth, env, home });
    return true;
  } catch {
    // The provider or its key is no longer configured; calling it by name would report which.
    return false;
  }
}

function parseModelName(name: string): { name: string; provider: string; model: string } {
  const slash = name.indexOf("/");
  return { name, provider: name.slice(0, slash), model: name.slice(slash + 1) };
}

/** Providers with a known URL need none in the settings. */
function addKnownUrls(providers: ProviderSources["providers"]): ProviderSources["providers"] {
  const known = Object.entries(embeddingUrls).map(([name, baseUrl]) => [name, { baseUrl, ...providers[name] }]);
  return { ...providers, ...Object.fromEntries(known) };
}

/** Dimensions of well-known models: a vector space must be known before its first vector. */
const dimensions: Readonly<Record<string, number>> = {
  "text-embedding-3-small": 1536,
  "text-embedding-3-large": 3072,
  "text-embedding-ada-002": 1536,
  "gemini-embedding-001": 3072,
  "text-embedding-004": 768,
  "voyage-3.5": 1024,
  "voyage-3.5-lite": 1024,
  "voyage-3-large": 1024,
  "voyage-code-3": 1024,
  "mistral-embed": 1024,
  "codestral-embed": 1536,
  "embed-v4.0": 1536,
  "embed-english-v3.0": 1024,
  "embed-multilingual-v3.0": 1024,
  "nomic-embed-text": 768,
  "mxbai-embed-large": 1024,
  "all-minilm": 384,
  "bge-m3": 1024,
  "jina-embeddings-v3": 1024,
};

/** URLs of providers with an OpenAI-compatible (or similar) API. */
const embeddingUrls: Readonly<Record<string, string>> = {
  voyage: "https://api.voyageai.com/v1",
  mistral: "https://api.mistral.ai/v1",
  cohere: "https://api.cohere.ai/compatibility/v1",
};

/** The model name without publisher and tag: `BAAI/bge-m3` and `bge-m3:latest` are the same. */
function normaliseModelName(model: string): string {
  return model
    .slice(model.lastIndexOf("/") + 1)
    .replace(/:.*$/, "")
    .toLowerCase();
}

function getDimensions(model: string): number | undefined {
  const name = normaliseModelName(model);
  return Object.hasOwn(dimensions, name) ? dimensions[name] : undefined;
}
