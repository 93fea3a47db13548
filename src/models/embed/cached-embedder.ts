import { createHash } from "node:crypto";
import type { EmbeddingCache } from "./embedding-cache.ts";
import {
  type Embedded,
  type EmbeddedQuery,
  type Embedder,
  type EmbedText,
  formatSpaceName,
  type VectorSpace,
} from "./port.ts";

/** Wraps an embedder with a cache of its results. */
export class CachedEmbedder implements Embedder {
  readonly space: VectorSpace;
  readonly #inner: Embedder;
  readonly #cache: EmbeddingCache;

  constructor(inner: Embedder, cache: EmbeddingCache) {
    this.space = inner.space;
    this.#inner = inner;
    this.#cache = cache;
  }

  async embed(texts: EmbedText[], signal?: AbortSignal): Promise<Embedded[]> {
    const keys = texts.map(({ text, speaker = "" }) => this.#key("document", speaker, text));
    const known = await this.#known(keys);
    // A text that occurs twice in one call is embedded once.
    const missing = new Map<string, number>();
    for (const [place, key] of keys.entries()) {
      if (!known.has(place) && !missing.has(key.toString("base64"))) missing.set(key.toString("base64"), place);
    }
    const places = [...missing.values()];
    const asked = places.flatMap((place) => texts[place] ?? []);
    const made = asked.length === 0 ? [] : await this.#inner.embed(asked, signal);
    const fresh = new Map<string, Embedded>();
    const entries = places.flatMap((place, index) => {
      const [key, one] = [keys[place], made[index]];
      if (key === undefined || one === undefined) return [];
      fresh.set(key.toString("base64"), one);
      return [{ key, made: one }];
    });
    if (entries.length > 0) await this.#cache.write(entries);
    return keys.flatMap((key, place) => known.get(place) ?? fresh.get(key.toString("base64")) ?? []);
  }

  async embedQuery(text: string, signal?: AbortSignal): Promise<EmbeddedQuery> {
    const key = this.#key("query", "", text);
    const known = (await this.#known([key])).get(0);
    if (known !== undefined) return { vector: known.vector };
    const made = await this.#inner.embedQuery(text, signal);
    // A query embedding with words is not cached, because the cache stores only vectors.
    if (made.words === undefined) await this.#cache.write([{ key, made: { vector: made.vector } }]);
    return made;
  }

  takeNotices(): string[] {
    return this.#cache.takeNotices();
  }

  async close(): Promise<void> {
    await this.#inner.close();
    await this.#cache.close();
  }

  async #known(keys: readonly Uint8Array[]): Promise<Map<number, Embedded>> {
    const known = await this.#cache.read(keys);
    for (const [place, { vector }] of known) if (vector.length !== this.space.dimensions) known.delete(place);
    return known;
  }

  /** The hash of everything the vector depends on: provider, model, dimensions, purpose, speaker and text. */
  #key(use: "document" | "query", speaker: string, text: string): Buffer {
    return createHash("sha256")
      .update(JSON.stringify([formatSpaceName(this.space), use, speaker, text]))
      .digest();
  }
}
