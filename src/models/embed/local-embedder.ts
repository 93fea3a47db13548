import { Worker } from "node:worker_threads";
import { type ErrorCode, VarveError } from "../../domain/index.ts";
import { miniLmSpace } from "./minilm-space.ts";
import type { Embedded, EmbeddedQuery, Embedder, EmbedText } from "./port.ts";
import type { EmbedCall, EmbedReply } from "./worker-protocol.ts";

interface Waiting {
  resolve(value: EmbedReply["value"]): void;
  reject(error: Error): void;
}

export interface LocalEmbedderOptions {
  /** Where the converted model is kept. */
  cacheFolder: string;
}

const queriesKept = 200;
/** Small enough that a query never waits long behind a batch. */
const batchTexts = 8;

/** MiniLM in a thread of its own, started when the first text comes. */
export class LocalEmbedder implements Embedder {
  readonly space = miniLmSpace;
  private readonly options: LocalEmbedderOptions;
  private readonly waiting = new Map<number, Waiting>();
  private readonly queries = new Map<string, EmbeddedQuery>();
  private worker: Worker | undefined;
  private nextId = 1;

  constructor(options: LocalEmbedderOptions) {
    this.options = options;
  }

  async embed(texts: EmbedText[], signal?: AbortSignal): Promise<Embedded[]> {
    const results: Embedded[] = [];
    for (let start = 0; start < texts.length; start += batchTexts) {
      signal?.throwIfAborted();
      results.push(
        ...((await this.call({ op: "embed", texts: texts.slice(start, start + batchTexts) })) as Embedded[]),
      );
    }
    return results;
  }

  async embedQuery(text: string, signal?: AbortSignal): Promise<EmbeddedQuery> {
    signal?.throwIfAborted();
    const known = this.queries.get(text);
    if (known) return known;
    const made = (await this.call({ op: "query", text })) as EmbeddedQuery;
    if (this.queries.size >= queriesKept) {
      const oldest = this.queries.keys().next().value;
      if (oldest !== undefined) this.queries.delete(oldest);
    }
    this.queries.set(text, made);
    return made;
  }

  async close(): Promise<void> {
    const { worker } = this;
    this.worker = undefined;
    await worker?.terminate();
  }

  private call(request: EmbedCall): Promise<EmbedReply["value"]> {
    const worker = this.started();
    const id = this.nextId;
    this.nextId += 1;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      worker.ref();
      worker.postMessage({ ...request, id });
    });
  }

  private started(): Worker {
    if (this.worker) return this.worker;
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    const worker = new Worker(new URL(`./embed-worker.${extension}`, import.meta.url), { workerData: this.options });
    worker.on("message", (reply: EmbedReply) => this.settle(worker, reply));
    worker.on("error", (error) => this.end(worker, error));
    worker.on("exit", () => this.end(worker, new Error("the embedding thread ended")));
    this.worker = worker;
    return worker;
  }

  private settle(worker: Worker, reply: EmbedReply): void {
    const waiting = this.waiting.get(reply.id);
    this.waiting.delete(reply.id);
    // A loaded model alone does not keep a program alive; a call under way does.
    if (this.waiting.size === 0) worker.unref();
    if (!waiting) return;
    if (reply.error) {
      const { code, message, remedy } = reply.error;
      waiting.reject(new VarveError(code as ErrorCode, message, { remedy }));
    } else waiting.resolve(reply.value);
  }

  /** A thread that died is replaced at the next call. */
  private end(worker: Worker, cause: Error): void {
    if (this.worker === worker) this.worker = undefined;
    const error = new VarveError("INTERNAL", `The embedding model stopped: ${cause.message}.`, {
      remedy: "Search goes on with words alone; the next search starts the model again.",
      cause,
    });
    for (const waiting of this.waiting.values()) waiting.reject(error);
    this.waiting.clear();
  }
}
