/** The reranker port: scores how well each text answers a query. */
export interface Reranker {
  /** `provider/model`, for messages. */
  readonly name: string;
  /** Scores from 0 to 1 by index in `texts`; texts may be missing. Fails instead of answering late. */
  rerank(query: string, texts: readonly string[], signal?: AbortSignal): Promise<RerankScore[]>;
}

export interface RerankScore {
  index: number;
  score: number;
}
