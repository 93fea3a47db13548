import { Worker } from "node:worker_threads";
import { type ErrorCode, VarveError } from "../../../domain/index.ts";
import type { MatchAnswer, MatchReply, MatchRequest } from "./match-protocol.ts";

/** The memory of a matching thread; a pattern that needs more is refused. */
const heapMiB = 256;

/** The main-thread side of one matching thread. Requests run one after another. */
export class MatchThread {
  readonly #worker: Worker;
  #waiting: { resolve(value: MatchAnswer): void; reject(error: Error): void } | undefined;
  #ended: Error | undefined;

  constructor() {
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    this.#worker = new Worker(new URL(`./match-worker.${extension}`, import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: heapMiB },
    });
    // A thread without work does not keep the process alive.
    this.#worker.unref();
    this.#worker.on("message", (reply: MatchReply) => this.#settle(reply));
    this.#worker.on("error", (error: NodeJS.ErrnoException) => this.#end(createThreadError(error)));
    this.#worker.on("exit", () => this.#end(new VarveError("ABORTED", "The search was ended.")));
  }

  get isEnded(): boolean {
    return this.#ended !== undefined;
  }

  call(request: MatchRequest): Promise<MatchAnswer> {
    if (this.#ended) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#worker.ref();
      this.#worker.postMessage(request);
    });
  }

  /**
   * Ends the thread, in the middle of a match if need be; the running call is rejected with the error at once. The thread
   * is gone, with the files it had open, when the promise resolves.
   */
  async end(error: Error): Promise<void> {
    this.#end(error);
    await this.#worker.terminate();
  }

  #settle(reply: MatchReply): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#worker.unref();
    if (reply.error) {
      const { code, message, remedy } = reply.error;
      waiting?.reject(new VarveError(code as ErrorCode, message, { remedy }));
    } else waiting?.resolve(reply.value);
  }

  #end(error: Error): void {
    this.#ended ??= error;
    this.#waiting?.reject(this.#ended);
    this.#waiting = undefined;
  }
}

function createThreadError(cause: NodeJS.ErrnoException): VarveError {
  if (cause.code === "ERR_WORKER_OUT_OF_MEMORY") {
    return new VarveError("TOO_LARGE", `The pattern needs more than ${heapMiB} MiB of memory.`, {
      remedy: "Send a pattern with smaller repetitions, or search a shorter time or fewer conversations.",
      cause,
    });
  }
  return new VarveError("INTERNAL", `The thread that searches stopped: ${cause.message}.`, { cause });
}
