import { Worker } from "node:worker_threads";
import { type ErrorCode, VarveError } from "../../domain/index.ts";
import {
  type BuiltInSummary,
  type BuiltInTargets,
  type BuiltInWriter,
  writeBuiltInSummary,
} from "./built-in-summary.ts";
import { throwIfAborted, withAbort } from "./summary-attempt.ts";
import type { SummaryRequest } from "./summary-request.ts";

/** The part of a request that the built-in summariser reads. */
export type BuiltInInput = Pick<SummaryRequest, "depth" | "turns" | "previousSummary" | "sourceTokens">;

export interface SummaryThreadRequest {
  id: number;
  input: BuiltInInput;
  targets: BuiltInTargets;
}

export type SummaryThreadReply =
  | { id: number; written: BuiltInSummary; error?: undefined }
  | { id: number; error: { code: string; message: string; remedy?: string } };

/** A sweep writes this many summaries in the calling thread: most need no more, and starting a thread takes longer. */
const summariesWithoutThread = 2;
/** A thread without work is ended after this time. */
const idleMs = 15_000;

interface Waiting {
  resolve(written: BuiltInSummary): void;
  reject(error: unknown): void;
}

/** Writes built-in summaries in a thread of its own, which is started for the first long sweep and ended when idle. */
export class SummaryThread {
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #requests = 0;

  /** The writer of one sweep. */
  startSweep(): BuiltInWriter {
    let written = 0;
    return (input, targets) => {
      written += 1;
      const isShort = written <= summariesWithoutThread && this.#worker === undefined;
      return isShort ? writeBuiltInSummary(input, targets) : this.write(input, targets);
    };
  }

  /** Rejects at once when its signal is aborted; what the thread still writes for it is discarded. */
  async write(input: SummaryRequest, targets: BuiltInTargets): Promise<BuiltInSummary> {
    const { signal, depth, turns, previousSummary, sourceTokens } = input;
    throwIfAborted(signal);
    const { timeZone, leafTargetTokens, condensedTargetTokens } = targets;
    const id = ++this.#requests;
    const request: SummaryThreadRequest = {
      id,
      input: { depth, turns, previousSummary, sourceTokens },
      targets: { timeZone, leafTargetTokens, condensedTargetTokens },
    };
    const reply = new Promise<BuiltInSummary>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#use().postMessage(request);
    });
    try {
      return await withAbort(reply, signal);
    } finally {
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) this.#rest();
    }
  }

  /** The running thread, or a new one. */
  #use(): Worker {
    clearTimeout(this.#idle);
    const worker = this.#worker ?? this.#start();
    worker.ref();
    return worker;
  }

  #start(): Worker {
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    const worker = new Worker(new URL(`./summary-worker.${extension}`, import.meta.url));
    worker.on("message", (reply: SummaryThreadReply) => this.#settle(reply));
    worker.on("error", (cause) => this.#lose(worker, `The thread that summarises stopped: ${cause.message}.`, cause));
    worker.on("exit", () => this.#lose(worker, "The thread that summarises was ended."));
    this.#worker = worker;
    return worker;
  }

  #settle(reply: SummaryThreadReply): void {
    const waiting = this.#waiting.get(reply.id);
    if (reply.error === undefined) waiting?.resolve(reply.written);
    else waiting?.reject(new VarveError(reply.error.code as ErrorCode, reply.error.message, reply.error));
  }

  /** Fails what the thread was asked for; the next summary starts another one. */
  #lose(worker: Worker, message: string, cause?: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    const error = new VarveError("INTERNAL", message, { cause });
    for (const { reject } of this.#waiting.values()) reject(error);
  }

  /** A thread without work does not keep the process alive. */
  #rest(): void {
    const worker = this.#worker;
    worker?.unref();
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      this.#worker = undefined;
      worker?.terminate().catch(() => undefined);
    }, idleMs);
    this.#idle.unref();
  }
}
