import type { Config } from "../config/index.ts";
import type { Generate } from "../models/index.ts";
import type { SearchContext } from "../search/index.ts";
import type { Store } from "../store/index.ts";

/** The store, models and settings that all memory operations share. */
export interface MemoryContext {
  store: Store;
  /** The embedding index; without a model only words are compared. */
  embeddings: SearchContext;
  /** Absent when no model is configured for memories: built-in rules replace it. */
  generate?: Generate;
  timeZone: string;
  /** Further attributes of which a thing has one value at a time, from the settings. */
  singleValued: readonly string[];
  /** Decay, tiers and admission. */
  settings: Config["advanced"]["memory"];
}
