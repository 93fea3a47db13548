import type { LoadedConfig } from "../config/index.ts";
import { type Clock, type Random, VarveError } from "../domain/index.ts";
import {
  type ChainLimits,
  type ConfiguredOptions,
  defaultChainLimits,
  type Embedder,
  type Generate,
  type GeneratePurpose,
  initialModelState,
  type ModelLedger,
  type ModelState,
  openConfiguredModel,
  type Reranker,
} from "../models/index.ts";
import type { Schema, Store, StoreTransaction } from "../store/index.ts";

/** The models a program brings along, by what they are for. Where one is missing, the settings name it. */
export type Models = { [Purpose in GeneratePurpose]?: Generate } & {
  /** Makes vectors, in place of the model that comes with the package. */
  embedder?: Embedder;
  /** Embedders of before: their vectors serve until the new ones are there. */
  earlierEmbedders?: readonly Embedder[];
  /** Puts the best results of a search in order, in place of what the settings name. */
  reranker?: Reranker;
};

/** What writes summaries, describes large files, answers and remembers; absent where neither names a model. */
export function modelsOf(
  parts: { loaded: LoadedConfig; store: Store; clock: Clock; random: Random },
  brought: Models,
): Models {
  const { config, home } = parts.loaded;
  const options: ConfiguredOptions = {
    home,
    clock: parts.clock,
    random: parts.random,
    ledger: storedLedger(parts.store, parts.clock),
    limits: chainLimits(config),
  };
  const model = (purpose: GeneratePurpose): Generate | undefined => {
    const configured = brought[purpose] ?? openConfiguredModel(config.models, purpose, options);
    const cap = config.models.backgroundTokensPerDay;
    if (configured === undefined || cap === undefined || !backgroundPurposes.includes(purpose)) return configured;
    return async (request) => {
      await refuseAbove(parts.store, parts.clock, cap);
      return configured(request);
    };
  };
  const { embedder, earlierEmbedders, reranker } = brought;
  return {
    summary: model("summary"),
    largeFile: model("largeFile"),
    expansion: model("expansion"),
    ...(embedder === undefined ? {} : { embedder }),
    ...(earlierEmbedders === undefined ? {} : { earlierEmbedders }),
    memory: model("memory"),
    ...(reranker === undefined ? {} : { reranker }),
  };
}

/** What nobody waits for. Questions to the history are asked by somebody, and replies are never held back. */
const backgroundPurposes: readonly GeneratePurpose[] = ["summary", "largeFile", "memory"];

async function refuseAbove(store: Store, clock: Clock, cap: number): Promise<void> {
  const used = await store.db
    .selectFrom("model_days")
    .select((eb) => eb.fn.sum<number>(eb("input_tokens", "+", eb.ref("output_tokens"))).as("tokens"))
    .where("day", "=", dayOf(clock.now()))
    .where("purpose", "in", [...backgroundPurposes])
    .executeTakeFirst();
  if (Number(used?.tokens ?? 0) < cap) return;
  throw new VarveError("MODEL_PAUSED", `The ${cap} tokens a day for background work are used up.`, {
    remedy: "It goes on at midnight (UTC). Raise models.backgroundTokensPerDay to go on now.",
    details: { because: "spend" },
  });
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

export function chainLimits({ context, advanced }: LoadedConfig["config"]): ChainLimits {
  return {
    ...defaultChainLimits,
    timeoutMs: context.summaryTimeoutMs,
    authFailuresMax: advanced.models.circuitBreakerThreshold,
    authPauseMs: advanced.models.circuitBreakerCooldownMs,
    windowCallsMax: context.summaryMaxCallsPerWindow,
  };
}

/** The state of models in the store: a restart forgets nothing, and several processes share one budget. */
export function storedLedger(store: Store, clock: Clock): ModelLedger {
  return {
    read: async (name) => {
      const row = await store.db.selectFrom("model_states").selectAll().where("name", "=", name).executeTakeFirst();
      return row ? stateOf(row) : { ...initialModelState };
    },
    update: (name, change) =>
      store.transaction(
        async (tx) => {
          await tx.lock(`model ${name}`);
          const row = await tx.db.selectFrom("model_states").selectAll().where("name", "=", name).executeTakeFirst();
          const before = row ? stateOf(row) : { ...initialModelState };
          const state = change(before);
          const next = rowOf(name, state);
          await tx.db
            .insertInto("model_states")
            .values(next)
            .onConflict((conflict) => conflict.column("name").doUpdateSet(next))
            .execute();
          await countDay(tx, name, dayOf(clock.now()), before, state);
          return state;
        },
        { sync: false },
      ),
  };
}

/** Calls and tokens of a day; a purpose alone is only a budget of calls. */
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
  await db
    .insertInto("model_days")
    .values({ day, purpose, model, calls, input_tokens: input, output_tokens: output })
    .onConflict((conflict) =>
      conflict.columns(["day", "purpose", "model"]).doUpdateSet((eb) => ({
        calls: eb("model_days.calls", "+", calls),
        input_tokens: eb("model_days.input_tokens", "+", input),
        output_tokens: eb("model_days.output_tokens", "+", output),
      })),
    )
    .execute();
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
