/** The reranker port: reads a question together with each text, and says how well it answers. */
export interface Reranker {
  /** `provider/model`, for messages. */
  readonly name: string;
  /** What it scored, by place in the list, from 0 to 1; it may leave texts out. Fails rather than answer late. */
  rerank(query: string, texts: readonly string[], signal?: AbortSignal): Promise<RerankScore[]>;
}

export interface RerankScore {
  index: number;
  score: number;
}
