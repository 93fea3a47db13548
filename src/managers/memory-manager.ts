import { VarveError } from "../domain/index.ts";
import { type ManagerOptions, SharedEngine } from "./engine.ts";

export interface MemoryHit {
  /** How to name it to others: `msg#12`, `mem_…`. */
  id: string;
  text: string;
  score: number;
  time: number;
  source: "session" | "memory" | "file";
  sessionKey?: string;
}

export interface MemorySearchOptions {
  /** 5 when absent. */
  maxResults?: number;
  minScore?: number;
  /** Only what was said in this session: its key or its id. */
  sessionKey?: string;
}

const usualResults = 5;

/**
 * Finding what was said and what was kept, for applications that want no more.
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

  /** Makes the database, or brings it up to date. Everything else does so too when it has to. */
  async ensureSchema(): Promise<{ schemaVersion: number }> {
    const { schemaVersion } = await (await this.#engine.open()).status();
    return { schemaVersion };
  }

  /** Makes what was said findable by its meaning, and draws memories from it. By its words it is found at once. */
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
      throw new VarveError("BAD_REQUEST", "The chunk is empty.", { remedy: "Send some text." });
    }
    const varve = await this.#engine.open();
    const { current } = await varve.memory.add({ ...chunk, force: true });
    return { id: current.id };
  }

  /** What fits a question, best first. */
  async search(query: string, options: MemorySearchOptions = {}): Promise<MemoryHit[]> {
    const varve = await this.#engine.open();
    const { maxResults: limit = usualResults, minScore = 0, sessionKey } = options;
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
