/** What compaction may take, when, and in what portions. */
export interface CompactionPolicy {
  /** The share of the budget above which a full sweep runs. */
  contextThreshold: number;
  /** What is kept free for the answer; at most a quarter of the budget. */
  reserveTokens: number;
  freshTailCount: number;
  freshTailMaxTokens?: number;
  /**
   * Whether the tail reaches back to the newest user message however far that is. Without it a single turn longer than
   * the window can be compacted too, and the caller has to restate the request.
   */
  tailHoldsNewestUser: boolean;
  leafChunkTokens: number;
  /** How many summaries of depth 0 make one of depth 1. */
  leafMinFanout: number;
  /** The same for the depths above, and for all of them when the window is about to overflow. */
  condensedMinFanout: number;
  condensedMinFanoutHard: number;
  /** The deepest summary that is made after a turn, outside of sweeps. */
  incrementalMaxDepth: number;
  /** What a manual compaction leaves untouched. */
  keepRecentTokens: number;
}

export const defaultPolicy: Readonly<CompactionPolicy> = {
  contextThreshold: 0.75,
  reserveTokens: 20_000,
  freshTailCount: 64,
  tailHoldsNewestUser: true,
  leafChunkTokens: 20_000,
  leafMinFanout: 8,
  condensedMinFanout: 4,
  condensedMinFanoutHard: 2,
  incrementalMaxDepth: 1,
  keepRecentTokens: 20_000,
};

/**
 * The policy of a manual compaction: with a number of tokens, those newest ones stay; without, it is a hard checkpoint
 * after which only summaries and open tool calls are left.
 */
export function manualPolicy(policy: CompactionPolicy, keepRecentTokens?: number): CompactionPolicy {
  if (keepRecentTokens === undefined) return { ...policy, freshTailCount: 0, tailHoldsNewestUser: false };
  return { ...policy, freshTailCount: Number.MAX_SAFE_INTEGER, freshTailMaxTokens: keepRecentTokens, keepRecentTokens };
}
