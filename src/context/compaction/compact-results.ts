import { VarveError } from "../../domain/index.ts";
import type { CompactResult } from "./sweep.ts";

/** A compaction that did not get below its budget says what is in the way, and what would help. */
export function checkReached(result: CompactResult, budgetTokens: number): CompactResult {
  if (result.tokensAfter <= budgetTokens || result.status === "busy" || result.status === "cancelled") return result;
  const because = [
    result.because,
    `the newest messages and what cannot be shortened still take ${result.tokensAfter} of ${budgetTokens} tokens`,
    "a view shows their beginning and end; a larger budget, or a smaller context.freshTailCount, would show more",
  ];
  return { ...result, status: "stopped", because: because.filter(Boolean).join("; ") };
}

/** The result for a context that needs no compaction. */
export function nothingToDo(tokens: number): CompactResult {
  const none = { leafPasses: 0, condensedPasses: 0, modelPasses: 0, calls: 0, levels: {}, faults: [] };
  return { status: "nothing", tokensBefore: tokens, tokensAfter: tokens, ...none };
}

/** Whether a job goes on with another round; a failure fails the job, so that it is retried later. */
export function canContinue(result: CompactResult): boolean {
  if (result.failure !== undefined || result.status === "busy") {
    throw new VarveError(result.failure ?? "CONFLICT", result.because ?? "The compaction did not end.");
  }
  if (result.status === "cancelled") return false;
  return result.status !== "nothing" && result.tokensAfter < result.tokensBefore;
}

/** The results of a sweep that a model started and the built-in summariser finished. */
export function joinResults(first: CompactResult, second: CompactResult): CompactResult {
  const levels = { ...first.levels };
  for (const [level, count] of Object.entries(second.levels)) levels[level] = (levels[level] ?? 0) + count;
  return {
    status: second.status === "nothing" ? first.status : second.status,
    tokensBefore: first.tokensBefore,
    tokensAfter: second.tokensAfter,
    leafPasses: first.leafPasses + second.leafPasses,
    condensedPasses: first.condensedPasses + second.condensedPasses,
    modelPasses: first.modelPasses + second.modelPasses,
    calls: first.calls + second.calls,
    levels,
    faults: [...first.faults, ...second.faults],
    because: [first.because, second.because].filter(Boolean).join("; then by the built-in summariser: ") || undefined,
  };
}
