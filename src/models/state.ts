import type { TokenUsage } from "./generate.ts";
import type { ModelState } from "./ledger.ts";
import type { ChainLimits } from "./limits.ts";

/** Whether the state holds calls back now. */
export function isPaused(state: ModelState, now: number): boolean {
  return state.pausedUntil > now;
}

/** One more call of a purpose: counted in its window, or, when the window is full, the pause that begins with it. */
export function admitCall(state: ModelState, now: number, limits: ChainLimits): ModelState {
  if (isPaused(state, now)) return state;
  // A clock that was set back must not keep a window open for ever.
  const isOver = now - state.windowStartedAt >= limits.windowMs || now < state.windowStartedAt;
  const wasPaused = state.pausedUntil > 0;
  const { pausedBecause: _, ...rest } = state;
  const isNew = isOver || wasPaused || state.windowCalls === 0;
  const windowCalls = isNew ? 0 : state.windowCalls;
  if (windowCalls >= limits.windowCallsMax) {
    const minutes = Math.round(limits.windowMs / 60_000);
    return {
      ...state,
      pausedUntil: now + limits.windowPauseMs,
      pausedBecause: `${limits.windowCallsMax} calls were made within ${minutes} minutes`,
    };
  }
  return {
    ...rest,
    calls: state.calls + 1,
    windowStartedAt: isNew ? now : state.windowStartedAt,
    windowCalls: windowCalls + 1,
    pausedUntil: 0,
  };
}

export function recordAnswer(state: ModelState, now: number, usage: TokenUsage | undefined): ModelState {
  const { pausedBecause: _, ...rest } = state;
  return {
    ...rest,
    calls: state.calls + 1,
    inputTokens: state.inputTokens + (usage?.inputTokens ?? 0),
    outputTokens: state.outputTokens + (usage?.outputTokens ?? 0),
    authFailures: 0,
    pausedUntil: 0,
    lastOkAt: now,
  };
}

export function recordFailure(
  state: ModelState,
  now: number,
  failure: { isAuth: boolean; message: string },
  limits: ChainLimits,
): ModelState {
  const authFailures = failure.isAuth ? state.authFailures + 1 : state.authFailures;
  const failed: ModelState = {
    ...state,
    calls: state.calls + 1,
    failures: state.failures + 1,
    authFailures,
    lastError: failure.message,
    lastErrorAt: now,
  };
  // After the pause the count still stands, so that one more refusal is enough for the next one.
  if (!failure.isAuth || authFailures < limits.authFailuresMax) return failed;
  return {
    ...failed,
    pausedUntil: now + limits.authPauseMs,
    pausedBecause: `the key was refused ${authFailures} times in a row`,
  };
}
