import { VarveError } from "../domain/index.ts";
import type { Store } from "../store/index.ts";

export interface RewriteOptions {
  /** Decrypts everything instead; then remove the key from the settings. */
  decrypt?: boolean;
  onProgress?: (table: string, rows: number) => void;
}

/** Encrypts every text of the database with the current key, or decrypts everything. It can be interrupted and repeated. */
export async function rewriteDatabase(store: Store, options: RewriteOptions = {}): Promise<{ rows: number }> {
  if (store.rewriteTexts) return store.rewriteTexts(options);
  throw new VarveError("BAD_REQUEST", "No encryption key is configured.", {
    remedy: "Set encryption.key, for example to env:VARVE_KEY; `varve db keygen` prints a new key.",
  });
}
