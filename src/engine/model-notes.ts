import type { Clock } from "../domain/index.ts";
import { type ChainLimits, recordAnswer, recordFailure, type TokenUsage } from "../models/index.ts";
import type { Store } from "../store/index.ts";
import { storedLedger } from "./models.ts";

export type ModelOutcome = { usage?: TokenUsage } | { error: string; isAuth: boolean };

/** What became of calls of models, written a little later and together: nobody waits for it. */
export interface ModelNotes {
  note(purpose: string, model: string, outcome: ModelOutcome): void;
  flush(): Promise<void>;
}

const delayMs = 1_000;

export function modelNotesOf(store: Store, clock: Clock, limits: ChainLimits): ModelNotes {
  let pending = new Map<string, ModelOutcome[]>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  const write = async (): Promise<void> => {
    const batch = pending;
    pending = new Map();
    for (const [name, outcomes] of batch) {
      await storedLedger(store, clock).update(name, (before) =>
        outcomes.reduce(
          (state, outcome) =>
            "error" in outcome
              ? recordFailure(state, clock.now(), { message: outcome.error, isAuth: outcome.isAuth }, limits)
              : recordAnswer(state, clock.now(), outcome.usage),
          before,
        ),
      );
    }
  };
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    // A store that is gone takes its statistics along; who uses it hears of that elsewhere.
    writing = writing.then(write).catch(() => undefined);
    return writing;
  };
  return {
    note(purpose, model, outcome) {
      const name = `${purpose} ${model}`;
      pending.set(name, [...(pending.get(name) ?? []), outcome]);
      timer ??= setTimeout(() => void flush(), delayMs);
    },
    flush,
  };
}
