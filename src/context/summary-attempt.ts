import type { Generate, GenerateRequest } from "../models/index.ts";
import { estimateTokens } from "../tokens/index.ts";
import { ask } from "./generate.ts";
import { summaryPrompt } from "./prompts.ts";
import { checkSummary } from "./quality-guard.ts";
import { aggressiveTarget, normalTarget } from "./targets.ts";

/** What is to be summarised, ready to be put before a model. */
export interface Subject {
  text: string;
  inputTokens: number;
  depth: number;
  /** Parts of one input are merged by the prompt for summaries, whatever the depth of the result. */
  promptDepth: number;
  previousSummary?: string;
  customInstructions?: string;
  latestUserRequest?: string;
}

export interface SummaryAttemptOptions {
  generate: Generate;
  level: "normal" | "aggressive";
  mostTokens: number;
  /** The faults of the try before. */
  faults?: readonly string[];
  isFatal?: (error: unknown) => boolean;
  signal?: AbortSignal;
  overageFactor?: number;
}

/** One try: a summary, or what was wrong and whether the model could do better when told. */
export interface SummaryAttempt {
  faults: string[];
  canRetry: boolean;
  written?: { content: string; level: "normal" | "aggressive"; model?: string };
}

export async function attemptSummary(subject: Subject, options: SummaryAttemptOptions): Promise<SummaryAttempt> {
  const { text, inputTokens, depth, latestUserRequest } = subject;
  const { level, overageFactor = 3 } = options;
  const targetTokens = (level === "normal" ? normalTarget : aggressiveTarget)(inputTokens, options.mostTokens);
  const maxTokens = Math.ceil(overageFactor * targetTokens);
  const prompt = summaryPrompt({
    depth: subject.promptDepth,
    mode: level,
    text,
    targetTokens,
    previousSummary: subject.previousSummary,
    customInstructions: subject.customInstructions,
    faults: options.faults,
  });
  const request: GenerateRequest = { ...prompt, purpose: "summary", maxTokens, level, signal: options.signal };
  const answer = await ask(options.generate, request, options.isFatal ?? (() => false));
  if (answer.error !== undefined) return failed(answer.error);
  const content = answer.text;
  const tokens = estimateTokens(content);
  // What is not a summary at all is not worth a second try at the same length.
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
  });
  if (!ok) return { faults, canRetry: true };
  return { faults: [], canRetry: false, written: { content, level, model: answer.model } };
}

function failed(fault: string): SummaryAttempt {
  return { faults: [fault], canRetry: false };
}
