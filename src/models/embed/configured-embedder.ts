import { join } from "node:path";
import type { Config, Environment } from "../../config/index.ts";
import { systemClock, VarveError } from "../../domain/index.ts";
import { type ProviderSources, resolveAccess } from "../providers.ts";
import { CachedEmbedder } from "./cached-embedder.ts";
import { EmbeddingCache } from "./embedding-cache.ts";
import { bareName, embeddingAddresses, getDimensions } from "./known-models.ts";
import type { Embedder } from "./port.ts";
import { RemoteEmbedder, type RemoteEmbedderOptions } from "./remote-embedder.ts";
import { embedBySdk } from "./sdk-embedding.ts";

export interface ConfiguredEmbedderOptions
  extends Pick<RemoteEmbedderOptions, "limits" | "clock" | "random" | "sleep"> {
  /** The folder with `credentials.yaml`, and with the cache. */
  home: string;
  env?: Environment;
}

/**
 * The embedder that `search.embedder` names as provider/model. Keys are looked for and packages loaded when it is first
 * asked. Its fallbacks are other places that serve the same model: another model would be another space. What it made is
 * remembered on disk, because it costs money.
 */
export function configuredEmbedder(
  settings: Pick<Config, "models" | "search">,
  { home, env = process.env, ...options }: ConfiguredEmbedderOptions,
): Embedder {
  const { embedder, embedderFallbacks, embedderDimensions, embedderCache } = settings.search;
  const first = partsOf(embedder);
  const known = getDimensions(first.model);
  const dimensions = embedderDimensions ?? known;
  if (dimensions === undefined) {
    throw new VarveError("BAD_CONFIG", `It is not known how many dimensions the vectors of ${embedder} have.`, {
      remedy: "Set search.embedderDimensions to their number.",
    });
  }
  const all = [first, ...embedderFallbacks.map(partsOf)];
  const stranger = all.find(({ model }) => bareName(model) !== bareName(first.model));
  if (stranger) {
    throw new VarveError("BAD_CONFIG", `${stranger.name} is another model than ${embedder}.`, {
      remedy:
        "Name only other providers of the same model in search.embedderFallbacks: vectors of two models never meet.",
    });
  }
  const { providers, auth } = settings.models;
  const sources: ProviderSources = { providers: withAddresses(providers), auth, env, home };
  const remote = new RemoteEmbedder({
    ...options,
    space: { provider: first.provider, model: first.model, dimensions, tokenDimensions: 0 },
    ...(known !== undefined && dimensions !== known ? { dimensions } : {}),
    sources: all.map(({ name, provider, model }) => ({
      name,
      call: (call) => embedBySdk(resolveAccess(provider, sources), model, call),
    })),
  });
  if (embedderCache === 0) return remote;
  const file = join(home, "cache", "embeddings.db");
  return new CachedEmbedder(remote, new EmbeddingCache(file, embedderCache, options.clock ?? systemClock));
}

/** Whether a provider could be asked for vectors with these settings. */
export function hasEmbeddingAccess(
  provider: string,
  { providers, auth }: Config["models"],
  home: string,
  env: Environment = process.env,
): boolean {
  try {
    resolveAccess(provider, { providers: withAddresses(providers), auth, env, home });
    return true;
  } catch {
    // It is not in the settings any more, or its key is not: whoever asks for it by name hears which.
    return false;
  }
}

function partsOf(name: string): { name: string; provider: string; model: string } {
  const slash = name.indexOf("/");
  return { name, provider: name.slice(0, slash), model: name.slice(slash + 1) };
}

/** Providers whose address is known need none in the settings. */
function withAddresses(providers: ProviderSources["providers"]): ProviderSources["providers"] {
  const known = Object.entries(embeddingAddresses).map(([name, baseUrl]) => [name, { baseUrl, ...providers[name] }]);
  return { ...providers, ...Object.fromEntries(known) };
}
