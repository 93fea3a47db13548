import { estimateTokens } from "../../text/index.ts";
import { writeBuiltIn } from "./built-in.ts";
import { normalTarget } from "./summary-attempt.ts";
import type { SummaryRequest } from "./summary-request.ts";
import { turnsText } from "./turns-text.ts";

export interface BuiltInTargets {
  timeZone?: string;
  leafTargetTokens?: number;
  condensedTargetTokens?: number;
}

export interface BuiltInSummary {
  content: string;
  /** Why the content is not shorter than its input. */
  fault?: string;
}

/** Writes a summary without a model. The same input always gives the same text. */
export type BuiltInWriter = (
  input: SummaryRequest,
  targets: BuiltInTargets,
) => BuiltInSummary | Promise<BuiltInSummary>;

/** Writes it in the calling thread. The result is shorter than the input, or the input itself. */
export function writeBuiltInSummary(input: SummaryRequest, targets: BuiltInTargets): BuiltInSummary {
  const { timeZone } = targets;
  const text = turnsText(input.turns, timeZone);
  const inputTokens = estimateTokens(text);
  const targetTokens = normalTarget(inputTokens, mostTokens(input.depth, targets));
  const content = writeBuiltIn(input, { targetTokens, timeZone });
  if (estimateTokens(content) < inputTokens) return { content };
  const shorter = writeBuiltIn(input, { targetTokens: Math.ceil(inputTokens / 2), timeZone, isEmergency: true });
  if (estimateTokens(shorter) < inputTokens) return { content: shorter };
  return { content: text, fault: "The input is too small to be summarised; it was kept as it is." };
}

/** The configured length of a summary of this depth. */
export function mostTokens(
  depth: number,
  targets: Pick<BuiltInTargets, "leafTargetTokens" | "condensedTargetTokens">,
): number {
  return depth === 0 ? (targets.leafTargetTokens ?? 2_400) : (targets.condensedTargetTokens ?? 2_000);
}
