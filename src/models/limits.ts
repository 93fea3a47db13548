/** What a chain of models may do before it gives up or takes a break. */
export interface ChainLimits {
  /** The most times one model is asked for one answer. */
  attemptsMax: number;
  /** The wait before the second attempt; it doubles with each. */
  backoffMs: number;
  /** The longest wait a provider may ask for. */
  retryAfterMaxMs: number;
  /** How long one call may take. */
  timeoutMs: number;
  /** Refusals of a key in a row, after which a model is left alone for a while. */
  authFailuresMax: number;
  authPauseMs: number;
  /** Calls of one purpose in a window, all its models together, after which none is asked for a while. */
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
