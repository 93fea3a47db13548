import type { Embedded, EmbeddedQuery, EmbedText } from "./port.ts";

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
