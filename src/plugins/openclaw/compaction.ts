import type { Session, TurnFacts, Varve } from "../../index.ts";
import type { CompactParams, CompactResult, RuntimeContext } from "./host-types.ts";
import { getSharedState } from "./shared-engine.ts";

/** After a refusal the next view has at most this share of the previous one, down to a share of the budget. */
const shrinkFactor = 0.6;
const shareMin = 0.02;
const growthFactor = 1.05;
/** The share of a window above which maintenance compacts with the host's model. */
const hostThreshold = 0.75;

/** Compacts on request of a person or of a provider that refused a prompt. It fails only when nothing can be shortened. */
export async function compactSession(varve: Varve, session: Session, params: CompactParams): Promise<CompactResult> {
  const { tokenBudget, currentTokenCount, customInstructions, abortSignal: signal, runtimeContext } = params;
  const isManual = params.compactionTarget === "threshold" && runtimeContext?.trigger !== "overflow";
  const done = await withCompletion(runtimeContext, () =>
    isManual
      ? varve.context.compact(session, {
          signal,
          ...(customInstructions === undefined ? {} : { instructions: customInstructions }),
        })
      : varve.context.recoverFromOverflow(session, createOverflowError(currentTokenCount), {
          ...(tokenBudget === undefined ? {} : { windowTokens: tokenBudget }),
          ...(currentTokenCount === undefined ? {} : { observedTokens: currentTokenCount }),
          signal,
        }),
  );
  const tokensBefore = currentTokenCount ?? done?.tokensBefore ?? 0;
  const saved = done === undefined ? 0 : Math.max(0, done.tokensBefore - done.tokensAfter);
  const isShorter = !isManual && shrinkView(session.key);
  const compacted = saved > 0 || isShorter;
  const ok = isManual || compacted;
  return {
    ok,
    compacted,
    ...(compacted ? {} : { reason: isManual ? "nothing to compact" : "nothing can be shortened any more" }),
    result: { tokensBefore, tokensAfter: Math.max(0, tokensBefore - Math.max(saved, isShorter ? 1 : 0)) },
  };
}

/** Makes the next view of a session shorter; false when it is as short as it gets. */
function shrinkView(key: string): boolean {
  const { viewShares, viewSizes } = getSharedState();
  const share = Math.min(viewShares.get(key) ?? 1, viewSizes.get(key) ?? 1);
  if (share <= shareMin) return false;
  viewShares.set(key, Math.max(shareMin, share * shrinkFactor));
  return true;
}

/**
 * After an accepted turn the view may become a little longer again: one large turn must not shorten all later views.
 */
export function growView(key: string): void {
  const { viewShares } = getSharedState();
  const share = viewShares.get(key);
  if (share === undefined) return;
  const next = share * growthFactor;
  if (next >= 1) viewShares.delete(key);
  else viewShares.set(key, next);
}

/** An error that the engine recognises as a refusal of a prompt that is too long. */
function createOverflowError(tokens: number | undefined): Error {
  return new Error(`maximum context length exceeded${tokens === undefined ? "" : ` by a prompt of ${tokens} tokens`}`);
}

/** Facts of the host about the last prompt. */
export function readTurnFacts(context: RuntimeContext | undefined): TurnFacts {
  const usage = context?.promptCache?.lastCallUsage?.contextUsage;
  const observedTokens = usage?.state === "available" ? usage.promptTokens : undefined;
  return {
    ...(context?.tokenBudget === undefined ? {} : { windowTokens: context.tokenBudget }),
    ...(context?.modelId === undefined ? {} : { model: context.modelId }),
    ...(observedTokens === undefined ? {} : { observedTokens }),
  };
}

/** Compacts with the model of the host while it offers one, when the context has grown to its threshold. */
export async function compactWithHost(
  varve: Varve,
  session: Session,
  context: RuntimeContext | undefined,
  signal?: AbortSignal,
): Promise<boolean> {
  if (context?.llm === undefined) return false;
  const window = context.tokenBudget ?? varve.settings.config.context.windowTokens;
  const result = await withCompletion(context, () =>
    varve.context.compact(session, { budgetTokens: Math.floor(window * hostThreshold), signal }),
  );
  return result.tokensAfter < result.tokensBefore;
}

/** Offers the model of the host to the summariser while something runs. */
function withCompletion<T>(context: RuntimeContext | undefined, run: () => Promise<T>): Promise<T> {
  const complete = context?.llm?.complete;
  return complete === undefined ? run() : getSharedState().completion.run(complete, run);
}
