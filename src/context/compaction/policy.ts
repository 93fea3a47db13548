/** The policy of compaction: which messages, when, and in which portions. */
export interface CompactionPolicy {
  /** The share of the budget above which a full sweep runs. */
  contextThreshold: number;
  /** Tokens reserved for the answer; at most a quarter of the budget. */
  reserveTokens: number;
  freshTailCount: number;
  freshTailMaxTokens?: number;
  /** A message counts at most this many tokens: a view shows no more of it. */
  messageTokensMax?: number;
  /**
   * Whether the tail includes the newest user message. A turn that is longer than twice the tail is compacted all the same:
   * every view shows the request of its first message.
   */
  tailHoldsNewestUser: boolean;
  /** A session begins at this entry: no summary covers messages on both sides of it. */
  barrierSeq?: number;
  /** Messages from this entry on are not compacted, however many arrive meanwhile. */
  endSeq?: number;
  leafChunkTokens: number;
  /** How many summaries of depth 0 make one of depth 1. */
  leafMinFanout: number;
  /** The same for higher depths, and for all depths when the window is about to overflow. */
  condensedMinFanout: number;
  condensedMinFanoutHard: number;
  /** The greatest depth of a summary after a turn, outside of sweeps. */
  incrementalMaxDepth: number;
  /** The newest tokens that a manual compaction keeps. */
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
 * The policy of a manual compaction. With a number of tokens, the newest ones are kept; without, only summaries and open
 * tool calls remain.
 */
export function manualPolicy(policy: CompactionPolicy, keepRecentTokens?: number): CompactionPolicy {
  if (keepRecentTokens === undefined) return { ...policy, freshTailCount: 0, tailHoldsNewestUser: false };
  return { ...policy, freshTailCount: Number.MAX_SAFE_INTEGER, freshTailMaxTokens: keepRecentTokens, keepRecentTokens };
}
