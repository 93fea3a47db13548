import { VarveError } from "./errors.ts";

export interface FairQueueLimits {
  /** How many run at the same time. */
  running: number;
  /** How many of one caller run at the same time. */
  runningPerCaller: number;
  /** How many of one caller wait; more are refused. */
  waitingPerCaller: number;
  /** The name of the waiting work in the error that refuses more, such as "searches". */
  what: string;
}

interface Waiting {
  start(): void;
}

/**
 * Runs work in the order of arrival, one caller after another: a caller with many requests delays others by at most the
 * work that is running.
 */
export class FairQueue {
  readonly #limits: FairQueueLimits;
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #running = new Map<string, number>();
  /** When each caller that waits or runs had its last turn. */
  readonly #turns = new Map<string, number>();
  #turn = 0;
  #total = 0;

  constructor(limits: FairQueueLimits) {
    this.#limits = limits;
  }

  async run<T>(caller: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    await this.#enter(caller, signal);
    try {
      return await work();
    } finally {
      this.#leave(caller);
    }
  }

  #enter(caller: string, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    const queue = this.#waiting.get(caller) ?? [];
    if (queue.length >= this.#limits.waitingPerCaller) throw createFullError(queue.length, this.#limits.what);
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        start: () => {
          signal?.removeEventListener("abort", onAbort);
          resolve();
        },
      };
      const onAbort = (): void => {
        this.#remove(caller, waiting);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#waiting.set(caller, [...queue, waiting]);
      this.#startNext();
    });
  }

  #leave(caller: string): void {
    this.#total -= 1;
    const left = (this.#running.get(caller) ?? 1) - 1;
    if (left === 0) this.#running.delete(caller);
    else this.#running.set(caller, left);
    this.#startNext();
    this.#forget(caller);
  }

  #startNext(): void {
    while (this.#total < this.#limits.running) {
      const caller = this.#findNextCaller();
      const first = caller === undefined ? undefined : this.#waiting.get(caller)?.[0];
      if (caller === undefined || first === undefined) return;
      this.#turn += 1;
      this.#turns.set(caller, this.#turn);
      this.#running.set(caller, (this.#running.get(caller) ?? 0) + 1);
      this.#total += 1;
      this.#remove(caller, first);
      first.start();
    }
  }

  /** The caller that may run and whose last turn is longest ago. */
  #findNextCaller(): string | undefined {
    let next: string | undefined;
    for (const caller of this.#waiting.keys()) {
      if ((this.#running.get(caller) ?? 0) >= this.#limits.runningPerCaller) continue;
      if (next === undefined || this.#getTurn(caller) < this.#getTurn(next)) next = caller;
    }
    return next;
  }

  #getTurn(caller: string): number {
    return this.#turns.get(caller) ?? 0;
  }

  #remove(caller: string, waiting: Waiting): void {
    const rest = (this.#waiting.get(caller) ?? []).filter((one) => one !== waiting);
    if (rest.length === 0) this.#waiting.delete(caller);
    else this.#waiting.set(caller, rest);
    this.#forget(caller);
  }

  #forget(caller: string): void {
    if (!this.#waiting.has(caller) && !this.#running.has(caller)) this.#turns.delete(caller);
  }
}

function createFullError(waiting: number, what: string): VarveError {
  return new VarveError("RATE_LIMITED", `${waiting} ${what} of this caller are waiting already.`, {
    remedy: "Wait until some of them have ended.",
    details: { retryAfterSeconds: 5 },
  });
}
