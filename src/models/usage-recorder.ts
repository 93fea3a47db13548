import type { Store } from "../store/index.ts";
import type { TokenUsage } from "./generate.ts";
import type { ChainLimits } from "./model-state.ts";
import { recordAnswer, recordFailure } from "./model-state.ts";
import { createStoredLedger } from "./stored-ledger.ts";

export type ModelOutcome = { usage?: TokenUsage } | { error: string; isAuth: boolean };

/** Counts calls, tokens and failures of models. They are written together, with a delay: no caller waits for it. */
export interface UsageRecorder {
  record(purpose: string, model: string, outcome: ModelOutcome): void;
  flush(): Promise<void>;
}

const delayMs = 1_000;

export function createUsageRecorder(store: Store, limits: ChainLimits): UsageRecorder {
  let pending = new Map<string, ModelOutcome[]>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  const write = async (): Promise<void> => {
    const batch = pending;
    pending = new Map();
    for (const [name, outcomes] of batch) {
      await createStoredLedger(store).update(name, (before) =>
        outcomes.reduce(
          (state, outcome) =>
            "error" in outcome
              ? recordFailure(state, store.clock.now(), { message: outcome.error, isAuth: outcome.isAuth }, limits)
              : recordAnswer(state, store.clock.now(), outcome.usage),
          before,
        ),
      );
    }
  };
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    // A store that cannot be written loses these statistics; other calls report its failure.
    writing = writing.then(write).catch(() => undefined);
    return writing;
  };
  return {
    record(purpose, model, outcome) {
      const name = `${purpose} ${model}`;
      pending.set(name, [...(pending.get(name) ?? []), outcome]);
      timer ??= setTimeout(() => void flush(), delayMs);
    },
    flush,
  };
}
