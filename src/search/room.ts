import type { Clock } from "../domain/index.ts";
import type { Embedder } from "../models/index.ts";
import type { Store } from "../store/index.ts";
import { Archive } from "./archive.ts";
import { DocumentReader } from "./documents.ts";
import { WordCounts } from "./statistics.ts";
import type { SearchHost } from "./types.ts";
import { VectorShelf } from "./vectors/shelf.ts";

/** What searches share: the store, the model, and what is kept in memory between them. */
export interface SearchRoom {
  store: Store;
  clock: Clock;
  decode: SearchHost["decode"];
  embedder: Embedder | undefined;
  shelf: VectorShelf | undefined;
  documents: DocumentReader;
  archive: Archive;
  counts: WordCounts;
}

export function openRoom(host: SearchHost): SearchRoom {
  const { store, clock, embedder, decode } = host;
  return {
    store,
    clock,
    decode,
    embedder,
    shelf: embedder ? new VectorShelf(store, embedder.space) : undefined,
    documents: new DocumentReader(store, decode),
    archive: new Archive(store),
    counts: new WordCounts(store),
  };
}
