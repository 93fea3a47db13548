import { join } from "node:path";
import type { LoadedConfig } from "../../config/index.ts";
import type { Clock, Random } from "../../domain/index.ts";
import { hasEmbeddingAccess, openConfiguredEmbedder } from "./configured-embedder.ts";
import { LocalEmbedder } from "./local-embedder.ts";
import { type Embedder, formatSpaceName } from "./port.ts";
import { miniLmSpace as localSpace } from "./worker-protocol.ts";

export interface EmbedderOptions {
  loaded: LoadedConfig;
  clock: Clock;
  random: Random;
}

/** The embedder that the settings name; undefined for `none`. Throws for settings that name no usable model. */
export function createEmbedder({ loaded, clock, random }: EmbedderOptions): Embedder | undefined {
  const { embedder } = loaded.config.search;
  if (embedder === "none") return undefined;
  if (embedder === "local") return new LocalEmbedder({ cacheFolder: join(loaded.home, "cache") });
  return openConfiguredEmbedder(loaded.config, { home: loaded.home, clock, random });
}

/** The embedders of spaces that were used before, each opened when a search needs it. */
export class PreviousEmbedders {
  readonly #options: EmbedderOptions;
  readonly #provided: readonly Embedder[];
  readonly #opened = new Map<string, Embedder | undefined>();

  constructor(options: EmbedderOptions, provided: readonly Embedder[] = []) {
    this.#options = options;
    this.#provided = provided;
  }

  /** The embedder of a space; undefined when it is neither provided nor in the package, and its provider has no key. */
  open(name: string): Embedder | undefined {
    const provided = this.#provided.find(({ space }) => formatSpaceName(space) === name);
    if (provided) return provided;
    if (!this.#opened.has(name)) this.#opened.set(name, openSpace(name, this.#options));
    return this.#opened.get(name);
  }

  /** Embedders that the program provided are left open. */
  async close(): Promise<void> {
    for (const embedder of this.#opened.values()) await embedder?.close();
    this.#opened.clear();
  }
}

function openSpace(name: string, { loaded, clock, random }: EmbedderOptions): Embedder | undefined {
  const { config, home } = loaded;
  if (name === formatSpaceName(localSpace)) return new LocalEmbedder({ cacheFolder: join(home, "cache") });
  const [provider = ""] = name.split("/");
  const end = name.lastIndexOf("/");
  const dimensions = Number(name.slice(end + 1));
  if (!Number.isInteger(dimensions) || dimensions < 1 || end <= provider.length) return undefined;
  const search = {
    ...config.search,
    embedder: name.slice(0, end),
    embedderFallbacks: [],
    embedderDimensions: dimensions,
  };
  if (!hasEmbeddingAccess(provider, config.models, home)) return undefined;
  return openConfiguredEmbedder({ ...config, search }, { home, clock, random });
}
