import type { TokenUsage } from "./generate.ts";

/** Limits of a chain of models: retries, timeouts, budget and circuit breaker. */
export interface ChainLimits {
  /** Maximum attempts per model and request. */
  attemptsMax: number;
  /** The wait before the second attempt; it doubles each time. */
  backoffMs: number;
  /** The longest wait that a provider may request. */
  retryAfterMaxMs: number;
  /** The time limit of one call. */
  timeoutMs: number;
  /** Consecutive key rejections that pause a model. */
  authFailuresMax: number;
  authPauseMs: number;
  /** Calls per window and purpose, over all models, before calls are paused. */
  windowCallsMax: number;
  windowMs: number;
  windowPauseMs: number;
}

export const defaultChainLimits: Readonly<ChainLimits> = {
  attemptsMax: 3,
  backoffMs: 500,
  retryAfterMaxMs: 30_000,
  timeoutMs: 60_000,
  authFailuresMax: 5,
  authPauseMs: 1_800_000,
  windowCallsMax: 24,
  windowMs: 600_000,
  windowPauseMs: 1_800_000,
};

/** The state of one model for one purpose, or of all models of a purpose. Times are milliseconds since 1970. */
export interface ModelState {
  calls: number;
  failures: number;
  inputTokens: number;
  outputTokens: number;
  /** Input tokens of stable prefixes, and those read from a cache; counted for each day only. */
  cacheableTokens?: number;
  cachedTokens?: number;
  /** Consecutive rejections; reset by an answer. */
  authFailures: number;
  windowStartedAt: number;
  windowCalls: number;
  /** No calls before this time; 0 when not paused. */
  pausedUntil: number;
  pausedBecause?: string;
  lastError?: string;
  lastErrorAt?: number;
  lastOkAt?: number;
}

export const initialModelState: Readonly<ModelState> = {
  calls: 0,
  failures: 0,
  inputTokens: 0,
  outputTokens: 0,
  authFailures: 0,
  windowStartedAt: 0,
  windowCalls: 0,
  pausedUntil: 0,
};

/**
 * Stores the state of models, so that it survives restarts and several processes share one budget. A name is a purpose
 * (`summary`) or a purpose and a model (`summary anthropic/claude-haiku-4-5`).
 */
export interface ModelLedger {
  /** Returns the initial state for an unknown name. */
  read(name: string): Promise<ModelState>;
  /**
   * Reads, changes and writes atomically, and returns what was written. `change` is pure and may be called more than
   * once.
   */
  update(name: string, change: (state: ModelState) => ModelState): Promise<ModelState>;
}

/** A ledger that lives as long as the process. */
export function createInMemoryLedger(): ModelLedger {
  const states = new Map<string, ModelState>();
  const read = (name: string): ModelState => ({ ...(states.get(name) ?? initialModelState) });
  return {
    read: async (name) => read(name),
    update: async (name, change) => {
      const state = change(read(name));
      states.set(name, state);
      return { ...state };
    },
  };
}

/** Whether calls are paused now. */
export function isPaused(state: ModelState, now: number): boolean {
  return state.pausedUntil > now;
}

/** Counts one call of a purpose in its window, or starts a pause when the window is full. */
export function admitCall(state: ModelState, now: number, limits: ChainLimits): ModelState {
  if (isPaused(state, now)) return state;
  // A clock that was set back must not keep a window open forever.
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
    ...(usage?.cacheableInputTokens === undefined
      ? {}
      : { cacheableTokens: (state.cacheableTokens ?? 0) + usage.cacheableInputTokens }),
    ...(usage?.cachedInputTokens === undefined
      ? {}
      : { cachedTokens: (state.cachedTokens ?? 0) + usage.cachedInputTokens }),
    authFailures: 0,
    pausedUntil: 0,
    lastOkAt: now,
  };
}

export function recordFailure(
  state: ModelState,
  now: number,
  failure: { isAuth: boolean; message: string; pausedUntil?: number },
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
  if (failure.pausedUntil !== undefined) {
    return { ...failed, pausedUntil: failure.pausedUntil, pausedBecause: failure.message };
  }
  // The count is kept during the pause, so that one more rejection pauses again.
  if (!failure.isAuth || authFailures < limits.authFailuresMax) return failed;
  return {
    ...failed,
    pausedUntil: now + limits.authPauseMs,
    pausedBecause: `the key was rejected ${authFailures} times in a row`,
  };
}
