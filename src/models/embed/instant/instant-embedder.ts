import type { Embedded, EmbeddedQuery, Embedder, EmbedText, QueryWord, VectorSpace } from "../port.ts";
import { normalise } from "../token-states.ts";
import { loadTokenTable, type TokenTable } from "./token-table.ts";
import { WordPieces } from "./word-pieces.ts";

/** Named after the table: another table is another space. */
const instantSpace: VectorSpace = {
  provider: "local",
  model: "instant-1",
  dimensions: 128,
  tokenDimensions: 0,
};

/** Whether a space is of this kind; spaces of earlier tables have other numbers. */
export function isInstantSpaceName(name: string): boolean {
  return name.startsWith("local/instant-");
}

/** Tokens of a text beyond this many are not read: the mean hardly changes after so many. */
const textTokensMax = 3_000;
/** Texts are embedded for this long before control returns to the event loop. */
const sliceMs = 5;

/**
 * Embeds a text by the weighted mean of one vector per token, without a model: tens of thousands of texts a second. It
 * serves until the sentence model has embedded a text. A repeated token counts by the square root of its frequency.
 */
export class InstantEmbedder implements Embedder {
  readonly space = instantSpace;
  private table: TokenTable | undefined;
  private pieces: WordPieces | undefined;
  private counts = new Uint32Array(0);

  async embed(texts: EmbedText[], signal?: AbortSignal): Promise<Embedded[]> {
    const results: Embedded[] = [];
    let began = performance.now();
    for (const text of texts) {
      results.push(this.embedNow(text));
      if (performance.now() - began < sliceMs) continue;
      await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
      began = performance.now();
    }
    return results;
  }

  async embedQuery(text: string): Promise<EmbeddedQuery> {
    const { table, pieces } = this.open();
    const words: QueryWord[] = [];
    pieces.forEachWord(text, (word, tokens) => {
      const state = sumTokens(table, tokens);
      words.push({ text: word, state, tokens: tokens.length === 0 ? [] : [normalise(state)] });
      return words.length < textTokensMax;
    });
    return { vector: this.embedNow({ text }).vector, words };
  }

  async close(): Promise<void> {
    this.pieces = undefined;
  }

  /** Embeds one text without a promise: some microseconds for a short one. */
  embedNow({ text, speaker }: EmbedText): Embedded {
    const { table, pieces } = this.open();
    const { counts } = this;
    const found: number[] = [];
    let size = 0;
    let cut = false;
    const count = (_: string, tokens: readonly number[]) => {
      for (const token of tokens) {
        if (counts[token] === 0) found.push(token);
        counts[token] = (counts[token] as number) + 1;
      }
      size += tokens.length;
      cut = size >= textTokensMax;
      return !cut;
    };
    if (speaker) pieces.forEachWord(speaker, count);
    pieces.forEachWord(text, count);
    const sum = new Float32Array(table.dimensions);
    for (const token of found) {
      addToken(sum, table, token, Math.sqrt(counts[token] as number));
      counts[token] = 0;
    }
    return { vector: normalise(sum), ...(cut ? { cut } : {}) };
  }

  /** Calls `visit` with each word of a text and its tokens, in order, until it returns false. */
  forEachWord(text: string, visit: (word: string, tokens: readonly number[]) => boolean): void {
    this.open().pieces.forEachWord(text, visit);
  }

  /** The unit vector of a word by its tokens. */
  embedWord(tokens: readonly number[]): Float32Array {
    return normalise(sumTokens(this.open().table, tokens));
  }

  private open(): { table: TokenTable; pieces: WordPieces } {
    this.table ??= loadTokenTable();
    this.pieces ??= new WordPieces(this.table.places);
    if (this.counts.length === 0) this.counts = new Uint32Array(this.table.scales.length);
    return { table: this.table, pieces: this.pieces };
  }
}

function sumTokens(table: TokenTable, tokens: readonly number[]): Float32Array {
  const sum = new Float32Array(table.dimensions);
  for (const token of tokens) addToken(sum, table, token, 1);
  return sum;
}

function addToken(sum: Float32Array, { vectors, scales, dimensions }: TokenTable, token: number, times: number): void {
  const factor = times * (scales[token] as number);
  for (let index = 0, at = token * dimensions; index < dimensions; index += 1, at += 1) {
    sum[index] = (sum[index] as number) + factor * (vectors[at] as number);
  }
}
