import { estimateTokens } from "../../text/index.ts";

/** Why a summary that a program supplied cannot be stored; undefined when it can. */
export function findSummaryFault(content: string, inputTokens: number): string | undefined {
  const tokens = estimateTokens(content);
  if (tokens === 0) return "it is empty";
  if (tokens >= inputTokens) return `it has ${tokens} tokens, its input ${inputTokens}`;
  return undefined;
}
