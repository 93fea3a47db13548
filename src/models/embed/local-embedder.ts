import { Worker } from "node:worker_threads";
import { LRUCache } from "lru-cache";
import { type ErrorCode, VarveError } from "../../domain/index.ts";
import type { Embedded, EmbeddedQuery, Embedder, EmbedText } from "./port.ts";
import { type EmbedCall, type EmbedReply, type EmbedWorkerData, miniLmSpace } from "./worker-protocol.ts";

export interface LocalEmbedderOptions {
  /** Where the converted model is cached. */
  cacheFolder: string;
}

const queriesMax = 200;
/** Small enough that a query never waits long for a batch. */
const batchTexts = 8;

/** Texts that occur again, such as reminders and repeated tool output, are embedded once while they are remembered. */
const repeatedMax = 1_000;

/**
 * The threads of the process: the native runtime cannot be loaded again after its thread has ended, so threads stay and
 * all embedders share them. They do not keep the process alive. Queries always use the first.
 */
const threads: EmbedThread[] = [];

/** MiniLM in worker threads, started by the first text. */
export class LocalEmbedder implements Embedder {
  readonly space = miniLmSpace;
  private readonly options: LocalEmbedderOptions;
  private readonly queries = new LRUCache<string, Promise<EmbeddedQuery>>({ max: queriesMax });
  private readonly repeated = new LRUCache<string, Embedded>({ max: repeatedMax });
  private threadCount = 1;
  private closed = false;

  constructor(options: LocalEmbedderOptions) {
    this.options = options;
  }

  async embed(texts: EmbedText[], signal?: AbortSignal): Promise<Embedded[]> {
    const keys = texts.map(({ text, speaker }) => `${speaker ?? ""}\n${text}`);
    const fresh = new Map(keys.map((key, index) => [key, texts[index] as EmbedText]));
    const made = new Map<string, Embedded>();
    for (const key of fresh.keys()) {
      const known = this.repeated.get(key);
      if (known) made.set(key, known);
    }
    const pending = [...fresh].filter(([key]) => !made.has(key));
    await Promise.all(
      Array.from({ length: this.threadCount }, async (_, thread) => {
        for (let batch = pending.splice(0, batchTexts); batch.length > 0; batch = pending.splice(0, batchTexts)) {
          signal?.throwIfAborted();
          const request: EmbedCall = { op: "embed", texts: batch.map(([, text]) => text) };
          const vectors = (await this.opened(thread).call(request)) as Embedded[];
          for (const [index, [key]] of batch.entries()) {
            const vector = vectors[index];
            if (!vector) continue;
            made.set(key, vector);
            this.repeated.set(key, vector);
          }
        }
      }),
    );
    return keys.flatMap((key) => made.get(key) ?? []);
  }

  useThreads(count: number): void {
    this.threadCount = Math.max(1, Math.floor(count));
  }

  async embedQuery(text: string, signal?: AbortSignal): Promise<EmbeddedQuery> {
    signal?.throwIfAborted();
    const known = this.queries.get(text);
    if (known) return known;
    const made = this.opened(0).call({ op: "query", text }) as Promise<EmbeddedQuery>;
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
    // Unfinished calls do not delay the exit.
    for (const thread of threads) thread.unref();
  }

  private opened(index: number): EmbedThread {
    if (this.closed) throw new VarveError("INTERNAL", "The embedder is closed.");
    const thread = threads[index] ?? new EmbedThread(this.options.cacheFolder);
    threads[index] = thread;
    return thread;
  }
}

interface Waiting {
  resolve(value: EmbedReply["value"]): void;
  reject(error: Error): void;
}

/** The main-thread side of the embedding thread: sends calls in order and resolves their promises. */
class EmbedThread {
  private readonly worker: Worker;
  private readonly waiting = new Map<number, Waiting>();
  private nextId = 1;
  private ended: Error | undefined;

  constructor(cacheFolder: string) {
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    const workerData: EmbedWorkerData = { cacheFolder };
    this.worker = new Worker(new URL(`./embed-worker.${extension}`, import.meta.url), { workerData });
    this.worker.on("message", (reply: EmbedReply) => this.settle(reply));
    this.worker.on("error", (error) => this.end(error));
    this.worker.on("exit", () => this.end(new Error("its thread ended")));
  }

  call(request: EmbedCall): Promise<EmbedReply["value"]> {
    if (this.ended) return Promise.reject(this.ended);
    const id = this.nextId;
    this.nextId += 1;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.worker.ref();
      this.worker.postMessage({ ...request, id });
    });
  }

  /** Lets the process exit even if calls are in progress; the next call keeps it alive again. */
  unref(): void {
    this.worker.unref();
  }

  private settle(reply: EmbedReply): void {
    const waiting = this.waiting.get(reply.id);
    this.waiting.delete(reply.id);
    // A loaded model does not keep the process alive; a call in progress does.
    if (this.waiting.size === 0) this.worker.unref();
    if (!waiting) return;
    if (reply.error) {
      const { code, message, remedy } = reply.error;
      waiting.reject(new VarveError(code as ErrorCode, message, { remedy }));
    } else waiting.resolve(reply.value);
  }

  private end(cause: Error): void {
    this.ended ??= new VarveError("INTERNAL", `The embedding model stopped: ${cause.message}.`, {
      remedy: "Search continues with words only; restart the program to use the model again.",
      cause,
    });
    for (const waiting of this.waiting.values()) waiting.reject(this.ended);
    this.waiting.clear();
  }
}
