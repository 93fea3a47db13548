import { VarveError } from "../domain/index.ts";
import { type ManagerOptions, SharedEngine } from "./engine.ts";

export interface MemoryHit {
  /** The citation: `msg#12`, `mem_…`. */
  id: string;
  text: string;
  score: number;
  time: number;
  source: "session" | "memory" | "file";
  sessionKey?: string;
}

export interface MemorySearchOptions {
  /** Default: 5. */
  maxResults?: number;
  minScore?: number;
  /** Only results of this session, given by its key or its id. */
  sessionKey?: string;
}

const defaultMaxResults = 5;

/**
 * Searches messages and memories.
 *
 * @example
 * const memory = new MemoryManager({ home: "./memory" });
 * await memory.indexChunk({ text: "The vault code is 4711." });
 * console.log(await memory.search("vault code"));
 * await memory.close();
 */
export class MemoryManager {
  readonly #engine: SharedEngine;

  constructor(options: ManagerOptions = {}) {
    this.#engine = new SharedEngine(options);
  }

  /** Creates or migrates the database. The other methods do so as well on first use. */
  async ensureSchema(): Promise<{ schemaVersion: number }> {
    const { schemaVersion } = await (await this.#engine.open()).status();
    return { schemaVersion };
  }

  /** Embeds a session's messages and extracts memories from them. Keyword search needs no indexing. */
  async indexSession(sessionId: string): Promise<{ messages: number; memories: number }> {
    const varve = await this.#engine.open();
    const session = await varve.sessions.get(sessionId);
    const { embedded } = await varve.search.index();
    const before = (await varve.status()).memories;
    await varve.memory.extract(session);
    const memories = (await varve.status()).memories - before;
    return { messages: embedded, memories };
  }

  /** Keeps a piece of text as a memory of its own. */
  async indexChunk(chunk: { text: string; importance?: number }): Promise<{ id: string }> {
    if (chunk.text.trim() === "") {
      throw new VarveError("BAD_REQUEST", "The chunk is empty.", { remedy: "Pass a text that is not blank." });
    }
    const varve = await this.#engine.open();
    const { current } = await varve.memory.add({ ...chunk, force: true });
    return { id: current.id };
  }

  /** Returns the results for a query, best first. */
  async search(query: string, options: MemorySearchOptions = {}): Promise<MemoryHit[]> {
    const varve = await this.#engine.open();
    const { maxResults: limit = defaultMaxResults, minScore = 0, sessionKey } = options;
    const session = sessionKey === undefined ? undefined : await varve.sessions.get(sessionKey);
    const { results } = await varve.search.find(query, { limit, minScore, ...(session ? { session } : {}) });
    return results.map(({ citation: id, snippet: text, score, time, kind, sessionKey: key }): MemoryHit => {
      const source = kind === "memory" ? "memory" : kind === "message" || kind === "summary" ? "session" : "file";
      return { id, text, score, time, source, ...(key === null ? {} : { sessionKey: key }) };
    });
  }

  async getStats(): Promise<{ messages: number; memories: number; vectors: number; sessions: number }> {
    const { messages, memories, sessions, search } = await (await this.#engine.open()).status();
    return { messages, memories, sessions, vectors: search.vectors };
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}
