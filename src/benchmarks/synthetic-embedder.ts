import type { Embedded, EmbeddedQuery, Embedder, EmbedText } from "../index.ts";
import { seededRandom } from "./conversation.ts";

const dimensions = 384;
const tokenDimensions = 48;
const clusters = 200;
/** The distance of a text from the centre of its cluster, similar to that of sentence models. */
const spread = 0.9;
/** The number of stored token states of a text of about 70 words. */
const tokensMax = 32;

/**
 * Deterministic vectors without a model: clustered like those of a sentence model, with token states of the same size. It
 * measures a search without the embedding of its query.
 */
export class SyntheticEmbedder implements Embedder {
  readonly space = { provider: "bench", model: "clusters", dimensions, tokenDimensions };
  /** Whether queries have no words, so that their vectors are used unweighted. */
  plain = false;
  private readonly centres = Array.from({ length: clusters }, (_, index) => randomUnit(index + 1));
  private readonly states = new Map<string, Float32Array>();

  async embed(texts: EmbedText[]): Promise<Embedded[]> {
    return texts.map(({ text }) => ({ vector: this.vectorOf(text), tokens: this.tokensOf(text) }));
  }

  async embedQuery(text: string): Promise<EmbeddedQuery> {
    if (this.plain) return { vector: this.vectorOf(text) };
    const words = wordsIn(text).map((word) => ({
      text: word,
      state: randomUnit(hashText(word)),
      tokens: [this.stateOf(word)],
    }));
    return { vector: this.vectorOf(text), words };
  }

  async close(): Promise<void> {
    // Nothing to close.
  }

  vectorOf(text: string): Float32Array {
    const hash = hashText(text);
    const centre = this.centres[hash % clusters] as Float32Array;
    const noise = randomUnit(hash);
    return unit(centre.map((value, index) => value + spread * (noise[index] as number)));
  }

  private tokensOf(text: string): Int8Array {
    const words = [...new Set(wordsIn(text))].slice(0, tokensMax);
    const bytes = new Int8Array(words.length * tokenDimensions);
    for (const [place, word] of words.entries()) {
      const state = this.stateOf(word);
      for (let index = 0; index < tokenDimensions; index += 1) {
        bytes[place * tokenDimensions + index] = Math.round((state[index] as number) * 127);
      }
    }
    return bytes;
  }

  private stateOf(word: string): Float32Array {
    const known = this.states.get(word);
    if (known) return known;
    const made = randomUnit(hashText(word), tokenDimensions);
    this.states.set(word, made);
    return made;
  }
}

function wordsIn(text: string): string[] {
  return text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
}

function randomUnit(seed: number, length = dimensions): Float32Array {
  const random = seededRandom(seed);
  return unit(Float32Array.from({ length }, () => random() + random() + random() - 1.5));
}

function unit(vector: Float32Array): Float32Array {
  const norm = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0)) || 1;
  return vector.map((value) => value / norm);
}

function hashText(text: string): number {
  let hash = 2166136261;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 16777619);
  }
  return hash >>> 0;
}
