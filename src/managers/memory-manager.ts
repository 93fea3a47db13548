import { owner, type Principal } from "../authorization/index.ts";
import { VarveError } from "../domain/index.ts";
import type { Session, Varve } from "../index.ts";
import { type ManagerOptions, resolveSessionName, SharedEngine, toManagerOptions } from "./engine.ts";

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
/** A search of no session is one of the application, over everybody. */
const everyone: Principal = { ...owner, scopes: "all" };
/** How many memories are read to find those of one session. */
const chunksRead = 50;

export interface MemoryChunk {
  text: string;
  importance?: number;
  /** The session it belongs to, given by its key or its id: searches in that session find it. */
  sessionKey?: string;
  /** When it was said, in milliseconds since 1970; now when absent. */
  time?: number;
}

/** The newest entry of a session, which stands for where a text comes from. */
async function findLatestEntry(varve: Varve, session: Session) {
  const { agent, sessionId } = session;
  const { entries } = await varve.transcripts.read(session, { limit: 1 });
  return { agent, sessionId, seq: entries.at(-1)?.seq ?? 0, start: 0, end: 0 };
}

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

  /** Takes an open engine, options to open one, or its folder. */
  constructor(options: ManagerOptions | string = {}) {
    this.#engine = new SharedEngine(toManagerOptions(options));
  }

  /** Creates or migrates the database. The other methods do so as well on first use. */
  async ensureSchema(): Promise<{ schemaVersion: number }> {
    const { schemaVersion } = await (await this.#engine.open()).status();
    return { schemaVersion };
  }

  /** Embeds a session's messages and extracts memories from them. Keyword search needs no indexing. */
  async indexSession(sessionId: string): Promise<{ messages: number; memories: number }> {
    const varve = await this.#engine.open();
    const session = await varve.sessions.get(resolveSessionName(varve, sessionId));
    const { embedded } = await varve.search.index();
    const before = (await varve.status()).memories;
    await varve.memory.extract(session);
    const memories = (await varve.status()).memories - before;
    return { messages: embedded, memories };
  }

  /** Keeps a piece of text as a memory of its own, of a session and a time if they are given. */
  async indexChunk(chunk: MemoryChunk): Promise<{ id: string }> {
    if (chunk.text.trim() === "") {
      throw new VarveError("BAD_REQUEST", "The chunk is empty.", { remedy: "Pass a text that is not blank." });
    }
    const varve = await this.#engine.open();
    const { text, importance, sessionKey, time } = chunk;
    // A chunk of a user's session is about that user.
    const session =
      sessionKey === undefined ? undefined : await varve.sessions.get(resolveSessionName(varve, sessionKey));
    const sources = session && [await findLatestEntry(varve, session)];
    const validFrom = time === undefined ? {} : { validFrom: time };
    const { current } = await varve.memory.add({
      ...{ text, importance, sources, ...validFrom, force: true },
      ...(session ? { session } : {}),
    });
    return { id: current.id };
  }

  /** Returns the results for a query, best first. */
  async search(query: string, options: MemorySearchOptions = {}): Promise<MemoryHit[]> {
    const varve = await this.#engine.open();
    const { maxResults: limit = defaultMaxResults, minScore = 0, sessionKey } = options;
    const session =
      sessionKey === undefined ? undefined : await varve.sessions.get(resolveSessionName(varve, sessionKey));
    const place = session ? { session } : { principal: everyone };
    const { results } = await varve.search.find(query, { limit, minScore, ...place });
    const own = session ? await this.#findChunks(varve, query, session, { limit, minScore }) : [];
    const hits = results.map(({ citation: id, snippet: text, score, time, kind, sessionKey: key }): MemoryHit => {
      const source = kind === "memory" ? "memory" : kind === "message" || kind === "summary" ? "session" : "file";
      return { id, text, score, time, source, ...(key === null ? {} : { sessionKey: key }) };
    });
    return own.length === 0 ? hits : [...hits, ...own].sort((a, b) => b.score - a.score).slice(0, limit);
  }

  /** The memories that belong to a session. */
  async #findChunks(
    varve: Varve,
    query: string,
    session: Session,
    { limit, minScore }: { limit: number; minScore: number },
  ): Promise<MemoryHit[]> {
    const ids = new Set((await varve.sessions.history(session)).map((one) => one.sessionId));
    const principal = await varve.sessions.resolvePrincipal(session);
    const { hits } = await varve.memory.recall({ query, limit: chunksRead, agent: session.agent, principal });
    return hits
      .filter(({ memory, score }) => score >= minScore && memory.sources.some((source) => ids.has(source.sessionId)))
      .slice(0, limit)
      .map(({ memory, score }) => ({
        ...{ id: memory.id, text: memory.content, score, time: memory.validFrom },
        ...{ source: "memory" as const, sessionKey: session.key },
      }));
  }

  async getStats(): Promise<{ messages: number; memories: number; vectors: number; sessions: number }> {
    const { messages, memories, sessions, search } = await (await this.#engine.open()).status();
    return { messages, memories, sessions, vectors: search.vectors };
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}
