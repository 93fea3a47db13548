/**
 * The embedder port. A vector belongs to a space, named by provider, model and dimensions; vectors of different spaces
 * are never compared. An embedder that knows its tokens also gives their states, for late interaction.
 */
export interface Embedder {
  readonly space: VectorSpace;
  /** One result a text, in their order. Long texts are cut into pieces whose vectors are averaged. */
  embed(texts: EmbedText[], signal?: AbortSignal): Promise<Embedded[]>;
  embedQuery(text: string, signal?: AbortSignal): Promise<EmbeddedQuery>;
  /** What people should hear of although nothing failed, each once. */
  takeNotices?(): string[];
  close(): Promise<void>;
}

/** A text to embed, and who says it: a name is part of what a message means. */
export interface EmbedText {
  text: string;
  speaker?: string;
}

export interface VectorSpace {
  provider: string;
  model: string;
  dimensions: number;
  /** How many numbers are kept of each token; 0 where tokens are not known. */
  tokenDimensions: number;
}

export interface Embedded {
  /** Of length one. */
  vector: Float32Array;
  /** The states of the telling tokens, one after another, each scaled to the range of a signed byte. */
  tokens?: Int8Array;
  /** The text was longer than what is embedded of one; its end is found by words alone. */
  cut?: boolean;
}

export interface EmbeddedQuery {
  vector: Float32Array;
  /** What the vector was made from, so that a caller can weigh the words by how rare they are. */
  words?: QueryWord[];
}

/** One word of a query: its text, the sum of its tokens' states, and each token's projected state. */
export interface QueryWord {
  text: string;
  state: Float32Array;
  tokens: Float32Array[];
}

export function spaceName(space: VectorSpace): string {
  return `${space.provider}/${space.model}/${space.dimensions}`;
}
