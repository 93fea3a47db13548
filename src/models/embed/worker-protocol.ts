import type { Embedded, EmbeddedQuery, EmbedText, VectorSpace } from "./port.ts";

export interface EmbedWorkerData {
  cacheFolder: string;
}

export type EmbedCall = { op: "embed"; texts: EmbedText[] } | { op: "query"; text: string };
export type EmbedRequest = EmbedCall & { id: number };

export interface EmbedReply {
  id: number;
  value?: Embedded[] | EmbeddedQuery;
  error?: { message: string; code: string; remedy?: string };
}

/** The vector space of all-MiniLM-L6-v2. */
export const miniLmSpace: VectorSpace = {
  provider: "local",
  model: "minilm-l6-v2",
  dimensions: 384,
  tokenDimensions: 48,
};
