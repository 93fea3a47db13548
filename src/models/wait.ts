import { setTimeout as delay } from "node:timers/promises";
import { type Random, VarveError } from "../domain/index.ts";

/** Waits; rejects early when the signal aborts. */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

export const systemSleep: Sleep = async (ms, signal) => {
  await delay(ms, undefined, { signal });
};

/** Exponential backoff with jitter: between half and all of the doubled wait. */
export function computeBackoff(failedAttempts: number, baseMs: number, random: Random): number {
  const [high = 0, low = 0] = random.bytes(2);
  const share = (high * 256 + low) / 65_535;
  return Math.round(baseMs * 2 ** (failedAttempts - 1) * (0.5 + share / 2));
}

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortedError(signal);
}

export function abortedError(signal: AbortSignal): VarveError {
  return new VarveError("ABORTED", "The model call was cancelled.", { cause: signal.reason });
}

/** Rejects when the signal aborts, even if the promise ignores the signal. */
export function rejectOnAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
