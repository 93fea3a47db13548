import { join } from "node:path";
import {
  type Embedder,
  formatSpaceName,
  hasEmbeddingAccess,
  LocalEmbedder,
  localSpace,
  openConfiguredEmbedder,
} from "../models/index.ts";
import type { EngineHost } from "./host.ts";

type Parts = Pick<EngineHost, "loaded" | "clock" | "random">;

/** The models of spaces that were used before, each opened when a search needs it. */
export class EarlierEmbedders {
  readonly #parts: Parts;
  readonly #brought: readonly Embedder[];
  readonly #opened = new Map<string, Embedder | undefined>();

  constructor(parts: Parts, brought: readonly Embedder[] = []) {
    this.#parts = parts;
    this.#brought = brought;
  }

  /** The model of a space; undefined where it is not brought along, not in the package, and its provider has no key. */
  open(name: string): Embedder | undefined {
    const brought = this.#brought.find(({ space }) => formatSpaceName(space) === name);
    if (brought) return brought;
    if (!this.#opened.has(name)) this.#opened.set(name, openSpace(name, this.#parts));
    return this.#opened.get(name);
  }

  /** What the program brought along is the program's to close. */
  async close(): Promise<void> {
    for (const embedder of this.#opened.values()) await embedder?.close();
    this.#opened.clear();
  }
}

function openSpace(name: string, { loaded, clock, random }: Parts): Embedder | undefined {
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
