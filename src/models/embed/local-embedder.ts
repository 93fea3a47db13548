import { VarveError } from "../../domain/index.ts";
import { EmbedThread } from "./embed-thread.ts";
import { miniLmSpace } from "./minilm-space.ts";
import type { Embedded, EmbeddedQuery, Embedder, EmbedText } from "./port.ts";

export interface LocalEmbedderOptions {
  /** Where the converted model is kept. */
  cacheFolder: string;
}

const queriesKept = 200;
/** Small enough that a query never waits long behind a batch. */
const batchTexts = 8;

/**
 * The one thread of this process: the native runtime cannot be loaded again once the thread that loaded it has ended,
 * so that it stays, and all embedders share it. It does not keep a program alive.
 */
let thread: EmbedThread | undefined;

/** MiniLM in a thread of its own, started when the first text comes. */
export class LocalEmbedder implements Embedder {
  readonly space = miniLmSpace;
  private readonly options: LocalEmbedderOptions;
  private readonly queries = new Map<string, Promise<EmbeddedQuery>>();
  private closed = false;

  constructor(options: LocalEmbedderOptions) {
    this.options = options;
  }

  async embed(texts: EmbedText[], signal?: AbortSignal): Promise<Embedded[]> {
    const results: Embedded[] = [];
    for (let start = 0; start < texts.length; start += batchTexts) {
      signal?.throwIfAborted();
      const batch = texts.slice(start, start + batchTexts);
      results.push(...((await this.opened().call({ op: "embed", texts: batch })) as Embedded[]));
    }
    return results;
  }

  async embedQuery(text: string, signal?: AbortSignal): Promise<EmbeddedQuery> {
    signal?.throwIfAborted();
    const known = this.queries.get(text);
    if (known) return known;
    const made = this.opened().call({ op: "query", text }) as Promise<EmbeddedQuery>;
    if (this.queries.size >= queriesKept) {
      const oldest = this.queries.keys().next().value;
      if (oldest !== undefined) this.queries.delete(oldest);
    }
    this.queries.set(text, made);
    try {
      return await made;
    } catch (error) {
      this.queries.delete(text);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    // Nobody waits for what is still being made.
    thread?.letGo();
  }

  private opened(): EmbedThread {
    if (this.closed) throw new VarveError("INTERNAL", "The embedder is closed.");
    thread ??= new EmbedThread(this.options.cacheFolder);
    return thread;
  }
}
