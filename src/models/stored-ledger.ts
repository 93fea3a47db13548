import type { Schema, Store, StoreTransaction } from "../store/index.ts";
import { initialModelState, type ModelLedger, type ModelState } from "./model-state.ts";

/** The UTC day of a time, as `2026-11-17`. */
export function toDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** Keeps the state of models in the store: it survives a restart, and several processes share one budget. */
export function createStoredLedger(store: Store): ModelLedger {
  return {
    read: async (name) => {
      const row = await store.db.selectFrom("model_states").selectAll().where("name", "=", name).executeTakeFirst();
      return row ? stateFromRow(row) : { ...initialModelState };
    },
    update: (name, change) =>
      store.transaction(
        async (tx) => {
          await tx.lock(`model ${name}`);
          const row = await tx.db.selectFrom("model_states").selectAll().where("name", "=", name).executeTakeFirst();
          const before = row ? stateFromRow(row) : { ...initialModelState };
          const state = change(before);
          const next = toRow(name, state);
          await tx.db
            .insertInto("model_states")
            .values(next)
            .onConflict((conflict) => conflict.column("name").doUpdateSet(next))
            .execute();
          await countDay(tx, name, toDay(store.clock.now()), before, state);
          return state;
        },
        { sync: false },
      ),
  };
}

/** Counts the calls and tokens of a day. A name without a model is only a budget of calls. */
async function countDay(
  { db }: StoreTransaction,
  name: string,
  day: string,
  before: ModelState,
  after: ModelState,
): Promise<void> {
  const [purpose = "", model] = name.split(" ");
  const [calls, input, output] = [
    after.calls - before.calls,
    after.inputTokens - before.inputTokens,
    after.outputTokens - before.outputTokens,
  ];
  if (model === undefined || calls <= 0) return;
  const cacheable = (after.cacheableTokens ?? 0) - (before.cacheableTokens ?? 0);
  const cached = (after.cachedTokens ?? 0) - (before.cachedTokens ?? 0);
  await db
    .insertInto("model_days")
    .values({
      ...{ day, purpose, model, calls, input_tokens: input, output_tokens: output },
      ...{ cacheable_tokens: cacheable, cached_tokens: cached },
    })
    .onConflict((conflict) =>
      conflict.columns(["day", "purpose", "model"]).doUpdateSet((eb) => ({
        calls: eb("model_days.calls", "+", calls),
        input_tokens: eb("model_days.input_tokens", "+", input),
        output_tokens: eb("model_days.output_tokens", "+", output),
        cacheable_tokens: eb("model_days.cacheable_tokens", "+", cacheable),
        cached_tokens: eb("model_days.cached_tokens", "+", cached),
      })),
    )
    .execute();
}

export function stateFromRow(row: Schema["model_states"]): ModelState {
  return {
    calls: row.calls,
    failures: row.failures,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    authFailures: row.auth_failures,
    windowStartedAt: row.window_started_at,
    windowCalls: row.window_calls,
    pausedUntil: row.paused_until,
    ...(row.paused_because === null ? {} : { pausedBecause: row.paused_because }),
    ...(row.last_error === null ? {} : { lastError: row.last_error }),
    ...(row.last_error_at === null ? {} : { lastErrorAt: row.last_error_at }),
    ...(row.last_ok_at === null ? {} : { lastOkAt: row.last_ok_at }),
  };
}

function toRow(name: string, state: ModelState): Schema["model_states"] {
  return {
    name,
    calls: state.calls,
    failures: state.failures,
    input_tokens: state.inputTokens,
    output_tokens: state.outputTokens,
    auth_failures: state.authFailures,
    window_started_at: state.windowStartedAt,
    window_calls: state.windowCalls,
    paused_until: state.pausedUntil,
    paused_because: state.pausedBecause ?? null,
    last_error: state.lastError ?? null,
    last_error_at: state.lastErrorAt ?? null,
    last_ok_at: state.lastOkAt ?? null,
  };
}
