import type { Session } from "../../session/index.ts";
import { estimateTokens } from "../../text/index.ts";
import { mostTokens } from "../summary/built-in-summary.ts";
import type { SummariserOptions } from "../summary/summarise-with-fallback.ts";
import { normalTarget } from "../summary/summary-attempt.ts";
import type { Summarise } from "../summary/summary-request.ts";
import { findSummaryFault } from "../summary/supplied-summary.ts";
import { turnsText } from "../summary/turns-text.ts";

/** Why a sweep runs. */
export type SweepReason = "manual" | "leaf" | "threshold" | "budget" | "overflow" | "new" | "import";

/** A summary that is about to be written. */
export interface CompactionPlan {
  session: Session;
  reason: SweepReason;
  /** 0: messages are summarised; above it, summaries of one depth less. */
  depth: number;
  /** The entries from the first to the last message that it covers. */
  firstSeq: number;
  lastSeq: number;
  messageCount: number;
  /** The messages or summaries as a summariser reads them, each with its time. */
  text: string;
  inputTokens: number;
  targetTokens: number;
  /** The summary before this one: what it says is not repeated. */
  previousSummary?: string;
  instructions?: string;
  /** False when the prompt no longer fits the window: then `cancel` has no effect. */
  canCancel: boolean;
}

/** A handler's answer: cancel the compaction, or the text of the summary; nothing lets Varve write it. */
export type CompactionDecision = { cancel: true; reason?: string } | { summary: string; writer?: string };

export interface BeforeCompactHook {
  readonly isActive: boolean;
  /** The first answer of a handler. It fails only when the signal is aborted. */
  decide(plan: CompactionPlan, signal?: AbortSignal): Promise<CompactionDecision | undefined>;
}

/** Ends a sweep; the summaries that were published before stay. */
export class CompactionCancelled extends Error {}

export interface CompactionHookOptions
  extends Pick<SummariserOptions, "timeZone" | "leafTargetTokens" | "condensedTargetTokens"> {
  session: Session;
  reason: SweepReason;
  /** Gets what the caller must be told. */
  notes: Set<string>;
}

/** Asks the hook before each summary. A summary that it supplies is checked; a faulty one is written as usual. */
export function withCompactionHook(
  summarise: Summarise,
  hook: BeforeCompactHook | undefined,
  options: CompactionHookOptions,
): Summarise {
  if (!hook?.isActive) return summarise;
  const { session, reason, notes, timeZone } = options;
  const canCancel = reason !== "overflow";
  return async (input) => {
    const { depth, previousSummary, instructions, range } = input;
    const text = turnsText(input.turns, timeZone);
    const inputTokens = estimateTokens(text);
    const targetTokens = normalTarget(inputTokens, mostTokens(depth, options));
    const { firstSeq = 0, lastSeq = 0, messageCount = 0 } = range ?? {};
    const sources = { depth, firstSeq, lastSeq, messageCount, text, inputTokens, previousSummary, instructions };
    const decision = await hook.decide({ session, reason, canCancel, targetTokens, ...sources }, input.signal);
    if (decision === undefined) return summarise(input);
    if ("cancel" in decision) {
      const because = decision.reason === undefined ? "" : ` (${decision.reason})`;
      if (canCancel) throw new CompactionCancelled(`a hook cancelled it${because}`);
      notes.add(`A hook cancelled the compaction${because}; it ran because the prompt no longer fits the window.`);
      return summarise(input);
    }
    const content = decision.summary.trim();
    const fault = findSummaryFault(content, inputTokens);
    if (fault === undefined) {
      const model = decision.writer === undefined ? "hook" : `hook/${decision.writer}`;
      return { content, tokens: 0, level: "normal", model, promptVersion: 0, faults: [], calls: 0 };
    }
    const written = await summarise(input);
    return { ...written, faults: [`The summary of a hook was refused: ${fault}.`, ...written.faults] };
  };
}
