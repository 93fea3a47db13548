import type { Clock, Random } from "../domain/index.ts";
import type { Generate } from "../models/index.ts";
import type { Store } from "../store/index.ts";
import type { MemoryVectorCache } from "./memory-vector-cache.ts";

/** What memories are made with. */
export interface MemoryHost {
  store: Store;
  clock: Clock;
  random: Random;
  timeZone: string;
  /** Absent where no model is set: what is built in does the work then, and says so. */
  generate?: Generate;
  /** Absent where nothing makes vectors: words alone are compared then. */
  shelf?: MemoryVectorCache;
}
