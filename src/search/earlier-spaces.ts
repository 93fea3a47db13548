import type { Embedder } from "../models/index.ts";
import type { Archive } from "./archive.ts";
import type { SearchHost } from "./types.ts";
import type { VectorShelf } from "./vectors/shelf.ts";

/** A model and the vectors it made. Each space has its own in memory: those of two are never in one place. */
export interface VectorRoom {
  embedder: Embedder;
  shelf: VectorShelf;
  archive: Archive;
}

/** What is known of the spaces that were used before. */
export class EarlierSpaces {
  readonly open: NonNullable<SearchHost["openSpace"]>;
  /** Agents of whom the space of today holds everything: it serves, and stays. */
  readonly settled = new Set<string>();
  readonly rooms = new Map<string, VectorRoom>();
  readonly restingUntil = new Map<string, number>();

  constructor(open: NonNullable<SearchHost["openSpace"]>) {
    this.open = open;
  }
}
