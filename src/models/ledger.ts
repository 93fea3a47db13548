/** What is known of one model and one purpose, or of all models of a purpose together. Times are milliseconds since 1970. */
export interface ModelState {
  calls: number;
  failures: number;
  inputTokens: number;
  outputTokens: number;
  /** In a row: an answer sets it back. */
  authFailures: number;
  windowStartedAt: number;
  windowCalls: number;
  /** Nothing is asked before this time; 0 when nothing holds it back. */
  pausedUntil: number;
  pausedBecause?: string;
  lastError?: string;
  lastErrorAt?: number;
  lastOkAt?: number;
}

export const freshState: Readonly<ModelState> = {
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
 * Where the state of models is kept, so that a restart forgets nothing and several processes share one budget. A name is
 * a purpose (`summary`) or a purpose and a model (`summary anthropic/claude-haiku-4-5`).
 */
export interface ModelLedger {
  /** The fresh state when nothing is known of the name. */
  read(name: string): Promise<ModelState>;
  /**
   * Reads, changes and writes in one step that no other process comes in between of. `change` is pure, may be called
   * more than once, and what is returned is what was written.
   */
  update(name: string, change: (state: ModelState) => ModelState): Promise<ModelState>;
}

/** A ledger that ends with the process. */
export function inMemoryLedger(): ModelLedger {
  const states = new Map<string, ModelState>();
  const read = (name: string): ModelState => ({ ...(states.get(name) ?? freshState) });
  return {
    read: async (name) => read(name),
    update: async (name, change) => {
      const state = change(read(name));
      states.set(name, state);
      return { ...state };
    },
  };
}
