import { VarveError } from "../../domain/index.ts";
import type { Generate, GenerateRequest } from "../../models/index.ts";
import { estimateTokens } from "../../text/index.ts";
import { summaryPrompt } from "./prompts.ts";
import { checkSummary } from "./quality-guard.ts";
import type { PreparedRequest } from "./summary-request.ts";

export interface SummaryAttemptOptions {
  generate: Generate;
  level: "normal" | "aggressive";
  mostTokens: number;
  /** The faults of the previous attempt. */
  faults?: readonly string[];
  isFatal?: (error: unknown) => boolean;
  overageFactor?: number;
}

/** One attempt: a summary, or its faults and whether a retry can help. */
export interface SummaryAttempt {
  faults: string[];
  canRetry: boolean;
  written?: { content: string; level: "normal" | "aggressive"; model?: string };
}

export async function attemptSummary(
  request: PreparedRequest,
  options: SummaryAttemptOptions,
): Promise<SummaryAttempt> {
  const { text, inputTokens, depth, latestUserRequest } = request;
  const { level, overageFactor = 3 } = options;
  const targetTokens = (level === "normal" ? normalTarget : aggressiveTarget)(inputTokens, options.mostTokens);
  const maxTokens = Math.ceil(overageFactor * targetTokens);
  const prompt = summaryPrompt(request, { level, targetTokens, faults: options.faults });
  const { signal } = request;
  const call: GenerateRequest = { ...prompt, purpose: "summary", maxTokens, level, signal };
  const answer = await ask(options.generate, call, options.isFatal ?? (() => false));
  if (answer.error !== undefined) return failed(answer.error);
  const content = answer.text;
  const tokens = estimateTokens(content);
  // An answer that is no summary at all is not retried at the same length.
  if (tokens === 0) return failed("The summary is empty.");
  if (tokens >= inputTokens || tokens > maxTokens) {
    return failed(`The summary has ${tokens} tokens, its input ${inputTokens}, its bound ${maxTokens}.`);
  }
  const kind = depth === 0 ? "leaf" : "condensed";
  const { ok, faults } = checkSummary({
    content,
    sources: text,
    kind,
    depth,
    targetTokens,
    inputTokens,
    latestUserRequest,
    overageFactor,
    workLog: request.workLog,
  });
  if (!ok) return { faults, canRetry: true };
  return { faults: [], canRetry: false, written: { content, level, model: answer.model } };
}

function failed(fault: string): SummaryAttempt {
  return { faults: [fault], canRetry: false };
}

/** The target length of a summary for an input, and of a brief one. */
export function normalTarget(inputTokens: number, mostTokens: number): number {
  return Math.max(192, Math.min(mostTokens, Math.floor(0.35 * inputTokens)));
}

export function aggressiveTarget(inputTokens: number, mostTokens: number): number {
  const normal = normalTarget(inputTokens, mostTokens);
  return Math.max(96, Math.min(Math.floor(0.55 * normal), Math.floor(0.2 * inputTokens)));
}

/** The answer of a model, or its failure. */
export type Answer = { text: string; model?: string; error?: undefined } | { error: string };

/**
 * Asks a model once. A failure is returned, so that the next level can be tried; only errors that must stop the work are
 * thrown: an abort, a timeout, and those the caller calls fatal, such as a refused key.
 */
async function ask(
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

/** Rejects when the signal is aborted, even if the promise is never settled. */
export function withAbort<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const stop = () => reject(new VarveError("ABORTED", "Summarising was cancelled.", { cause: signal.reason }));
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
