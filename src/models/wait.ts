import { setTimeout as delay } from "node:timers/promises";
import { type Random, VarveError } from "../domain/index.ts";

/** Waits; ends early, by throwing, when the signal says so. */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

export const systemSleep: Sleep = async (ms, signal) => {
  await delay(ms, undefined, { signal });
};

/** The wait before an attempt: doubled for each before it, and between half and all of that, so that crowds spread. */
export function backoffMs(failedAttempts: number, baseMs: number, random: Random): number {
  const [high = 0, low = 0] = random.bytes(2);
  const share = (high * 256 + low) / 65_535;
  return Math.round(baseMs * 2 ** (failedAttempts - 1) * (0.5 + share / 2));
}

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortedBy(signal);
}

export function abortedBy(signal: AbortSignal): VarveError {
  return new VarveError("ABORTED", "Asking a model was cancelled.", { cause: signal.reason });
}

/** What does not listen to the signal must not outlive it. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
