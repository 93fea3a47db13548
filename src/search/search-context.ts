import type { Clock } from "../domain/index.ts";
import type { Embedder, Reranker } from "../models/index.ts";
import type { Store } from "../store/index.ts";
import { DocumentReader } from "./documents.ts";
import { MessageCache } from "./message-cache.ts";
import { PreviousSpaces } from "./previous-spaces.ts";
import { WordCounts } from "./statistics.ts";
import type { SearchDependencies } from "./types.ts";
import { VectorCache } from "./vectors/vector-cache.ts";

/** What searches share: the store, the model, and what is kept in memory between them. */
export interface SearchContext {
  store: Store;
  clock: Clock;
  decode: SearchDependencies["decode"];
  embedder: Embedder | undefined;
  reranker: Reranker | undefined;
  vectorCache: VectorCache | undefined;
  documents: DocumentReader;
  messageCache: MessageCache;
  counts: WordCounts;
  previousSpaces: PreviousSpaces;
}

export function createSearchContext(host: SearchDependencies): SearchContext {
  const { store, clock, embedder, reranker, decode, openSpace = () => undefined } = host;
  return {
    store,
    clock,
    decode,
    embedder,
    reranker,
    vectorCache: embedder ? new VectorCache(store, embedder.space) : undefined,
    documents: new DocumentReader(store, decode),
    messageCache: new MessageCache(store),
    counts: new WordCounts(store),
    previousSpaces: new PreviousSpaces(openSpace),
  };
}
