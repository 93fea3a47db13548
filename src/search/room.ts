import type { Clock } from "../domain/index.ts";
import type { Embedder, Reranker } from "../models/index.ts";
import type { Store } from "../store/index.ts";
import { Archive } from "./archive.ts";
import { DocumentReader } from "./documents.ts";
import { EarlierSpaces } from "./earlier-spaces.ts";
import { WordCounts } from "./statistics.ts";
import type { SearchHost } from "./types.ts";
import { VectorShelf } from "./vectors/shelf.ts";

/** What searches share: the store, the model, and what is kept in memory between them. */
export interface SearchRoom {
  store: Store;
  clock: Clock;
  decode: SearchHost["decode"];
  embedder: Embedder | undefined;
  reranker: Reranker | undefined;
  shelf: VectorShelf | undefined;
  documents: DocumentReader;
  archive: Archive;
  counts: WordCounts;
  earlier: EarlierSpaces;
}

export function openRoom(host: SearchHost): SearchRoom {
  const { store, clock, embedder, reranker, decode, openSpace = () => undefined } = host;
  return {
    store,
    clock,
    decode,
    embedder,
    reranker,
    shelf: embedder ? new VectorShelf(store, embedder.space) : undefined,
    documents: new DocumentReader(store, decode),
    archive: new Archive(store),
    counts: new WordCounts(store),
    earlier: new EarlierSpaces(openSpace),
  };
}
