import { VarveError } from "../domain/index.ts";

/** Runs work with a time limit. After it, the returned promise rejects and the work's signal is aborted. */
export async function withDeadline<T>(
  what: string,
  timeoutMs: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const { promise: over, reject } = Promise.withResolvers<never>();
  const end = (error: unknown): void => {
    reject(error);
    controller.abort(error);
  };
  const timer = setTimeout(
    () => end(new VarveError("ABORTED", `${what} took longer than ${timeoutMs} ms.`)),
    timeoutMs,
  );
  const onAbort = (): void => end(new VarveError("ABORTED", `${what} was cancelled.`));
  outer?.addEventListener("abort", onAbort, { once: true });
  try {
    outer?.throwIfAborted();
    const running = work(controller.signal);
    running.catch(() => undefined);
    return await Promise.race([running, over]);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener("abort", onAbort);
    over.catch(() => undefined);
  }
}
