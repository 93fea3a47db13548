/**
 * The embedder port. A vector belongs to a space, identified by provider, model and dimensions; vectors of different
 * spaces are never compared. An embedder that has access to its tokens also returns their states, for late interaction.
 */
export interface Embedder {
  readonly space: VectorSpace;
  /** One result per text, in order. Long texts are split, and the vectors of their pieces averaged. */
  embed(texts: EmbedText[], signal?: AbortSignal): Promise<Embedded[]>;
  embedQuery(text: string, signal?: AbortSignal): Promise<EmbeddedQuery>;
  /** How many threads embed texts from now on; one by default. Embedders without threads do not have it. */
  useThreads?(count: number): void;
  /** Returns messages for people about degraded operation, each once. */
  takeNotices?(): string[];
  close(): Promise<void>;
}

/** A text to embed and its speaker, whose name is part of the meaning of a message. */
export interface EmbedText {
  text: string;
  speaker?: string;
}

export interface VectorSpace {
  provider: string;
  model: string;
  dimensions: number;
  /** Dimensions of a token state; 0 when tokens are not available. */
  tokenDimensions: number;
}

export interface Embedded {
  /** Of length one. */
  vector: Float32Array;
  /** The states of informative tokens, concatenated, each scaled to the range of a signed byte. */
  tokens?: Int8Array;
  /** The text exceeded the embedding limit; its end is found by words only. */
  cut?: boolean;
}

export interface EmbeddedQuery {
  vector: Float32Array;
  /** The words of the vector, so that a caller can weight them by rarity. */
  words?: QueryWord[];
}

/** One word of a query: its text, the sum of its token states, and the projected state of each token. */
export interface QueryWord {
  text: string;
  state: Float32Array;
  tokens: Float32Array[];
}

export function formatSpaceName(space: VectorSpace): string {
  return `${space.provider}/${space.model}/${space.dimensions}`;
}
