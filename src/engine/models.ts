import type { LoadedConfig } from "../config/index.ts";
import type { Clock, Random } from "../domain/index.ts";
import {
  type ConfiguredOptions,
  configuredModel,
  type Embedder,
  freshState,
  type Generate,
  type GeneratePurpose,
  type ModelLedger,
  type ModelState,
} from "../models/index.ts";
import type { Schema, Store } from "../store/index.ts";

/** The models a program brings along, by what they are for. Where one is missing, the settings name it. */
export type Models = { [Purpose in GeneratePurpose]?: Generate } & {
  /** Makes vectors, in place of the model that comes with the package. */
  embedder?: Embedder;
};

/** What writes summaries, describes large files, answers and remembers; absent where neither names a model. */
export function modelsOf(
  parts: { loaded: LoadedConfig; store: Store; clock: Clock; random: Random },
  brought: Models,
): Models {
  const { config, home } = parts.loaded;
  const { context } = config;
  const options: ConfiguredOptions = {
    home,
    clock: parts.clock,
    random: parts.random,
    ledger: storedLedger(parts.store),
    limits: {
      timeoutMs: context.summaryTimeoutMs,
      authFailuresMax: context.circuitBreakerThreshold,
      authPauseMs: context.circuitBreakerCooldownMs,
      windowCallsMax: context.summaryMaxCallsPerWindow,
    },
  };
  const model = (purpose: GeneratePurpose): Generate | undefined =>
    brought[purpose] ?? configuredModel(config.models, purpose, options);
  const { embedder } = brought;
  return {
    summary: model("summary"),
    largeFile: model("largeFile"),
    expansion: model("expansion"),
    ...(embedder === undefined ? {} : { embedder }),
    memory: model("memory"),
  };
}

/** The state of models in the store: a restart forgets nothing, and several processes share one budget. */
export function storedLedger(store: Store): ModelLedger {
  return {
    read: async (name) => {
      const row = await store.db.selectFrom("model_states").selectAll().where("name", "=", name).executeTakeFirst();
      return row ? stateOf(row) : { ...freshState };
    },
    update: (name, change) =>
      store.transaction(async (tx) => {
        await tx.lock(`model ${name}`);
        const row = await tx.db.selectFrom("model_states").selectAll().where("name", "=", name).executeTakeFirst();
        const state = change(row ? stateOf(row) : { ...freshState });
        const next = rowOf(name, state);
        await tx.db
          .insertInto("model_states")
          .values(next)
          .onConflict((conflict) => conflict.column("name").doUpdateSet(next))
          .execute();
        return state;
      }),
  };
}

export function stateOf(row: Schema["model_states"]): ModelState {
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

function rowOf(name: string, state: ModelState): Schema["model_states"] {
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
