import { type Embedder, InstantEmbedder, type Reranker } from "../models/index.ts";
import type { Store } from "../store/index.ts";
import { DocumentCache } from "./document-cache.ts";
import { DocumentReader } from "./documents.ts";
import { WantedMessages } from "./embedding/wanted-messages.ts";
import { WordCounts } from "./query-weights.ts";
import type { RankingSettings } from "./ranking.ts";
import { MemoryVectorCache } from "./vectors/memory-vector-cache.ts";
import { MessageVectors } from "./vectors/message-vectors.ts";

/** An embedder and the vectors it made. Vectors of two spaces are never compared. */
export interface EmbeddingIndex {
  embedder: Embedder;
  /** Vectors of messages. */
  vectorCache: MessageVectors;
  /** Summaries, files and corpus chunks with their vectors. */
  documentCache: DocumentCache;
  /** Vectors of memories. */
  memoryVectors: MemoryVectorCache;
}

export function createEmbeddingIndex(store: Store, embedder: Embedder, cacheBytes: number): EmbeddingIndex {
  return {
    embedder,
    vectorCache: new MessageVectors(store, embedder.space, cacheBytes),
    documentCache: new DocumentCache(store),
    memoryVectors: new MemoryVectorCache(store, embedder.space),
  };
}

/** Vectors without a model, for what the model has not embedded yet. */
export interface InstantIndex {
  embedder: InstantEmbedder;
  vectors: MessageVectors;
}

/** The store, models and caches that all searches share. */
export interface SearchContext {
  store: Store;
  settings: RankingSettings;
  /** The zone in which "yesterday" is a day. */
  timeZone: string;
  /** Without one a search is lexical, and the answer reports it as degraded. */
  embedder: Embedder | undefined;
  vectorCache: MessageVectors | undefined;
  documentCache: DocumentCache;
  memoryVectors: MemoryVectorCache | undefined;
  /** Absent when instant vectors are switched off. */
  instant: InstantIndex | undefined;
  wanted: WantedMessages;
  reranker: Reranker | undefined;
  documents: DocumentReader;
  counts: WordCounts;
  previousSpaces: PreviousSpaces;
  /** The memory that vectors and documents of messages may take in this process. */
  cacheBytes: number;
}

/** State of the spaces that were used before the current model. */
export interface PreviousSpaces {
  /** Opens the embedder of a space by its name; undefined when it is not available. */
  open(name: string): Embedder | undefined;
  /** Names of the selections that the current space covers completely; it is active for them from then on. */
  settled: Set<string>;
  indexes: Map<string, EmbeddingIndex>;
  /** Until when a failed embedder is not called again, by the name of its space. */
  pausedUntil: Map<string, number>;
}

export interface SearchContextOptions {
  store: Store;
  cacheBytes: number;
  settings: RankingSettings;
  timeZone: string;
  embedder?: Embedder;
  /** Whether texts without a vector of the embedder get an instant one. */
  hasInstant: boolean;
  reranker?: Reranker;
  openPrevious?(name: string): Embedder | undefined;
}

export function createSearchContext(options: SearchContextOptions): SearchContext {
  const { store, settings, timeZone, embedder, reranker, cacheBytes, openPrevious = () => undefined } = options;
  const instant = options.hasInstant && embedder ? createInstantIndex(store, cacheBytes) : undefined;
  const index = embedder && createEmbeddingIndex(store, embedder, cacheBytes);
  return {
    store,
    settings,
    timeZone,
    embedder,
    vectorCache: index?.vectorCache,
    documentCache: index?.documentCache ?? new DocumentCache(store),
    memoryVectors: index?.memoryVectors,
    instant,
    wanted: new WantedMessages(),
    reranker,
    cacheBytes,
    documents: new DocumentReader(store),
    counts: new WordCounts(store),
    previousSpaces: { open: openPrevious, settled: new Set(), indexes: new Map(), pausedUntil: new Map() },
  };
}

function createInstantIndex(store: Store, cacheBytes: number): InstantIndex {
  const embedder = new InstantEmbedder();
  return { embedder, vectors: new MessageVectors(store, embedder.space, cacheBytes) };
}
