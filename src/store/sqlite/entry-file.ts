import { VarveError } from "../../domain/index.ts";
import type { EntryFile, EntryFileAddress } from "../port.ts";

/** Knows the work whose threads have the file open, so that the store closes after all of them. */
export class SharedEntryFile implements EntryFile {
  readonly address: EntryFileAddress;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  constructor(address: EntryFileAddress) {
    this.address = address;
  }

  async use<T>(work: (closing: AbortSignal) => Promise<T>): Promise<T> {
    this.#closing.signal.throwIfAborted();
    const run = work(this.#closing.signal);
    this.#running.add(run);
    try {
      return await run;
    } finally {
      this.#running.delete(run);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new VarveError("STORE_CLOSED", "The store is closed."));
    await Promise.allSettled(this.#running);
  }
}
