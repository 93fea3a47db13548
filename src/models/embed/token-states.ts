import { isStopWord } from "../../domain/index.ts";

/**
 * Which tokens of a text are worth keeping: stop words and punctuation say nothing alone, and a word that comes twice
 * is kept once, as the mean of its states. It halves what is stored and changes no measured result.
 */
export function isTelling(token: string): boolean {
  return /[\p{L}\p{N}]/u.test(token) && !isStopWord(token);
}

/** Collects the states of one text, a mean for every token that is the same. */
export class TokenStates {
  private readonly sums = new Map<number, Float32Array>();
  private readonly dimensions: number;

  constructor(dimensions: number) {
    this.dimensions = dimensions;
  }

  add(token: number, states: Float32Array, at: number): void {
    let norm = 0;
    for (let index = 0; index < this.dimensions; index += 1) norm += (states[at + index] ?? 0) ** 2;
    const scale = 1 / (Math.sqrt(norm) || 1);
    const sum = this.sums.get(token) ?? new Float32Array(this.dimensions);
    for (let index = 0; index < this.dimensions; index += 1) {
      sum[index] = (sum[index] ?? 0) + (states[at + index] ?? 0) * scale;
    }
    this.sums.set(token, sum);
  }

  get size(): number {
    return this.sums.size;
  }

  encode(): Int8Array {
    const out = new Int8Array(this.sums.size * this.dimensions);
    let at = 0;
    for (const sum of this.sums.values()) {
      out.set(toBytes(sum), at);
      at += this.dimensions;
    }
    return out;
  }
}

/** A vector as signed bytes that use their whole range; its length is lost and does not matter for a cosine. */
export function toBytes(vector: Float32Array): Int8Array {
  let largest = 0;
  for (const value of vector) largest = Math.max(largest, Math.abs(value));
  const scale = largest === 0 ? 0 : 127 / largest;
  return Int8Array.from(vector, (value) => Math.round(value * scale));
}

export function normalise(vector: Float32Array): Float32Array {
  let sum = 0;
  for (const value of vector) sum += value * value;
  const scale = 1 / (Math.sqrt(sum) || 1);
  return vector.map((value) => value * scale);
}
