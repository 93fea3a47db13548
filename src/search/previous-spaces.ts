import type { Embedder } from "../models/index.ts";
import type { MessageCache } from "./message-cache.ts";
import type { SearchDependencies } from "./types.ts";
import type { VectorCache } from "./vectors/vector-cache.ts";

/** A model and the vectors it made. Each space has its own in memory: those of two are never in one place. */
export interface SpaceContext {
  embedder: Embedder;
  vectorCache: VectorCache;
  messageCache: MessageCache;
}

/** What is known of the spaces that were used before. */
export class PreviousSpaces {
  readonly open: NonNullable<SearchDependencies["openSpace"]>;
  /** Agents of whom the space of today holds everything: it serves, and stays. */
  readonly settled = new Set<string>();
  readonly contexts = new Map<string, SpaceContext>();
  readonly pausedUntil = new Map<string, number>();

  constructor(open: NonNullable<SearchDependencies["openSpace"]>) {
    this.open = open;
  }
}
