/** An embedder for tests: no model, the same on every machine; texts with the same words are near. */
import type { Embedded, EmbeddedQuery, Embedder, EmbedText } from "../../src/models/index.ts";

const dimensions = 256;

export class WordEmbedder implements Embedder {
  readonly space: { provider: string; model: string; dimensions: number; tokenDimensions: number };
  /** Words that mean the same, by the one they stand for. */
  private readonly meanings: Readonly<Record<string, string>>;
  calls = 0;
  /** How many texts were embedded. */
  texts = 0;
  /** How many questions were. */
  queries = 0;
  failing = false;

  /** Another model has another space: its vectors of the same words are nowhere near. */
  constructor(meanings: Readonly<Record<string, string>> = {}, model = "words") {
    this.meanings = meanings;
    this.space = { provider: "test", model, dimensions, tokenDimensions: dimensions };
  }

  async embed(texts: EmbedText[]): Promise<Embedded[]> {
    if (this.failing) throw new Error("the model is away");
    this.calls += 1;
    this.texts += texts.length;
    return texts.map(({ text }) => {
      const states = wordsIn(text).map((word) => this.state(word));
      const tokens = Int8Array.from(states.flatMap((state) => [...state].map((value) => value * 127)));
      return { vector: meanOf(states), tokens };
    });
  }

  async embedQuery(text: string): Promise<EmbeddedQuery> {
    if (this.failing) throw new Error("the model is away");
    this.queries += 1;
    const words = wordsIn(text);
    const states = words.map((word) => this.state(word));
    return {
      vector: meanOf(states),
      words: words.map((word) => ({ text: word, state: this.state(word), tokens: [this.state(word)] })),
    };
  }

  async close(): Promise<void> {
    // Nothing is open.
  }

  private state(word: string): Float32Array {
    let seed = 7;
    const { model } = this.space;
    const meant = this.meanings[word] ?? word;
    for (const character of model === "words" ? meant : `${model} ${meant}`)
      seed = (Math.imul(seed, 31) + character.charCodeAt(0)) >>> 0;
    const state = new Float32Array(dimensions);
    for (let index = 0; index < 4; index += 1) {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      state[seed % dimensions] = 0.5;
    }
    return state;
  }
}

function wordsIn(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function meanOf(states: Float32Array[]): Float32Array {
  const sum = new Float32Array(dimensions);
  for (const state of states) for (let index = 0; index < dimensions; index += 1) sum[index]! += state[index]!;
  const norm = Math.hypot(...sum) || 1;
  return sum.map((value) => value / norm);
}
