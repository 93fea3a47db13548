import { VarveError } from "../domain/index.ts";
import type { Generate, GenerateRequest } from "../models/index.ts";

/** What was answered, or why nothing was. */
export type Answer = { text: string; model?: string; error?: undefined } | { error: string };

/**
 * Asks once. A failure is an answer too, so that the next level can be tried; only what must stop the whole work is
 * thrown: an abort, a timeout, and what the caller calls fatal, such as a refused key.
 */
export async function ask(
  generate: Generate,
  request: GenerateRequest,
  isFatal: (error: unknown) => boolean,
): Promise<Answer> {
  throwIfAborted(request.signal);
  try {
    const answer = await withAbort(generate(request), request.signal);
    const text = typeof answer === "string" ? answer : answer?.text;
    if (typeof text !== "string") return { error: "The model gave no text." };
    return { text: text.trim(), model: typeof answer === "string" ? undefined : answer.model };
  } catch (error) {
    throwIfAborted(request.signal);
    if (isStop(error) || isFatal(error)) throw error;
    return { error: `The model failed: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function isStop(error: unknown): boolean {
  if (error instanceof VarveError) return error.code === "ABORTED" || error.code === "MODEL_TIMEOUT";
  return error instanceof Error && (error.name === "AbortError" || error.name === "TimeoutError");
}

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new VarveError("ABORTED", "Summarising was cancelled.", { cause: signal.reason });
}

/** A model that never answers must not outlive the signal. */
function withAbort<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const stop = () => reject(new VarveError("ABORTED", "Summarising was cancelled.", { cause: signal.reason }));
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
