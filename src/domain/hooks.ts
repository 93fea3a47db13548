import { VarveError } from "./errors.ts";

/** The second argument of a handler. */
export interface HookCall {
  /** Aborted when the time of the handler is over, or when the work that it is called for was cancelled. */
  signal: AbortSignal;
}

export type HookHandler<Event, Answer> = (event: Event, call: HookCall) => Answer | Promise<Answer>;

/** Resolves after a time; rejects when the signal is aborted before. Tests inject one that they resolve by hand. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>;

export const systemWait: Wait = (ms, signal) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    signal.addEventListener("abort", stop, { once: true });
  });

export interface TimeLimit {
  timeoutMs: number;
  wait: Wait;
  /** Cancels the call: it then rejects with the reason of the signal. */
  signal?: AbortSignal;
}

/** Calls a function of a program and stops waiting for it when its time is over, even if it ignores its signal. */
export async function callWithin<T>(
  run: (signal: AbortSignal) => T | Promise<T>,
  { timeoutMs, wait, signal }: TimeLimit,
): Promise<T> {
  const call = new AbortController();
  const timer = new AbortController();
  const started = (async () => run(call.signal))();
  return new Promise<T>((resolve, reject) => {
    const cancel = () => reject(signal?.reason);
    if (signal?.aborted) cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    const end = () => {
      signal?.removeEventListener("abort", cancel);
      timer.abort();
    };
    started.then(resolve, reject).finally(end);
    wait(timeoutMs, timer.signal).then(
      () => reject(new VarveError("ABORTED", `It took longer than ${timeoutMs} ms.`)),
      // The call ended first.
      () => undefined,
    );
  }).finally(() => call.abort());
}

export interface HookListOptions {
  timeoutMs: number;
  wait: Wait;
}

/** A failure of a handler, as the text of an event. */
type OnFailed = (error: string) => void;

/**
 * The handlers of one hook. Each has a limited time. A handler that throws or takes too long is reported and otherwise
 * ignored: it never stops the work that it is called for.
 */
export class HookList<Event, Answer = void> {
  readonly #handlers = new Set<{ handle: HookHandler<Event, Answer> }>();
  readonly #options: HookListOptions;

  constructor(options: HookListOptions) {
    this.#options = options;
  }

  get isActive(): boolean {
    return this.#handlers.size > 0;
  }

  /** Adds a handler; the returned function removes it. */
  add(handle: HookHandler<Event, Answer>): () => void {
    const entry = { handle };
    this.#handlers.add(entry);
    return () => {
      this.#handlers.delete(entry);
    };
  }

  /** Calls all handlers at the same time and waits for them. */
  async callAll(event: Event, onFailed: OnFailed): Promise<void> {
    await Promise.all([...this.#handlers].map((entry) => this.#call(entry, event, onFailed)));
  }

  /** Calls the handlers in the order in which they were added until one of them answers. */
  async findAnswer(event: Event, onFailed: OnFailed, signal?: AbortSignal): Promise<Answer | undefined> {
    for (const entry of [...this.#handlers]) {
      const answer = await this.#call(entry, event, onFailed, signal);
      if (answer !== undefined && answer !== null) return answer;
    }
    return undefined;
  }

  async #call(
    { handle }: { handle: HookHandler<Event, Answer> },
    event: Event,
    onFailed: OnFailed,
    signal?: AbortSignal,
  ): Promise<Answer | undefined> {
    try {
      return await callWithin((callSignal) => handle(event, { signal: callSignal }), { ...this.#options, signal });
    } catch (error) {
      // The work itself was cancelled.
      signal?.throwIfAborted();
      onFailed(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }
}
