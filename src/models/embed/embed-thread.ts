import { Worker } from "node:worker_threads";
import { type ErrorCode, VarveError } from "../../domain/index.ts";
import type { EmbedCall, EmbedReply, EmbedWorkerData } from "./worker-protocol.ts";

interface Waiting {
  resolve(value: EmbedReply["value"]): void;
  reject(error: Error): void;
}

/** The near side of the embedding thread: calls go out in order, answers come back as promises. */
export class EmbedThread {
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

  /** A program that is done ends, whatever is still under way here; the next call holds it again. */
  letGo(): void {
    this.worker.unref();
  }

  private settle(reply: EmbedReply): void {
    const waiting = this.waiting.get(reply.id);
    this.waiting.delete(reply.id);
    // A loaded model alone does not keep a program alive; a call under way does.
    if (this.waiting.size === 0) this.worker.unref();
    if (!waiting) return;
    if (reply.error) {
      const { code, message, remedy } = reply.error;
      waiting.reject(new VarveError(code as ErrorCode, message, { remedy }));
    } else waiting.resolve(reply.value);
  }

  private end(cause: Error): void {
    this.ended ??= new VarveError("INTERNAL", `The embedding model stopped: ${cause.message}.`, {
      remedy: "Search goes on with words alone; start the program again to have the model back.",
      cause,
    });
    for (const waiting of this.waiting.values()) waiting.reject(this.ended);
    this.waiting.clear();
  }
}
