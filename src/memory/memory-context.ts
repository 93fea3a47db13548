import type { Generate } from "../models/index.ts";
import type { SearchContext } from "../search/index.ts";
import type { Store } from "../store/index.ts";

/** What memories are extracted, compared and found with. */
export interface MemoryContext {
  store: Store;
  /** The embedding index; without a model, words alone are compared. */
  embeddings: SearchContext;
  /** Absent when no model is set for memories: built-in rules do the work and say so. */
  generate?: Generate;
  timeZone: string;
}
