import type { LoadedConfig } from "../config/index.ts";
import { VarveError } from "../domain/index.ts";
import type { Store } from "../store/index.ts";
import { findModelWindow } from "./chat/catalogue.ts";
import { type ConfiguredOptions, listModelNames, openConfiguredModel } from "./configured.ts";
import type { Embedder } from "./embed/port.ts";
import type { Generate, GeneratePurpose } from "./generate.ts";
import { type ChainLimits, defaultChainLimits } from "./model-state.ts";
import type { Reranker } from "./rerank/port.ts";
import { createStoredLedger, toDay } from "./stored-ledger.ts";

/** The models that a program provides, by purpose. The settings name those that are missing. */
export type Models = { [Purpose in GeneratePurpose]?: Generate } & {
  /** The context window of `summary`, in tokens: larger inputs are summarised in parts. */
  summaryWindowTokens?: number;
  /** Embeds texts, in place of the model that comes with the package. */
  embedder?: Embedder;
  /** Embedders that were used before: their vectors are searched until the current one has embedded as much. */
  earlierEmbedders?: readonly Embedder[];
  /** Reranks the best results of a search, in place of the reranker that the settings name. */
  reranker?: Reranker;
};

/** The models of every purpose: the provided one, else the configured one, else none. */
export function createModels({ config, home }: LoadedConfig, store: Store, provided: Models): Models {
  const { clock, random } = store;
  const options: ConfiguredOptions = {
    home,
    clock,
    random,
    ledger: createStoredLedger(store),
    limits: createChainLimits(config),
    claudeProgram: config.turn.claude.program,
    timeZone: config.timezone,
  };
  const model = (purpose: GeneratePurpose): Generate | undefined => {
    const configured = provided[purpose] ?? openConfiguredModel(config.models, purpose, options);
    const cap = config.models.backgroundTokensPerDay;
    if (configured === undefined || cap === undefined || !backgroundPurposes.includes(purpose)) return configured;
    return async (request) => {
      await refuseAbove(store, cap);
      return configured(request);
    };
  };
  const { embedder, earlierEmbedders, reranker } = provided;
  const summaryWindowTokens =
    provided.summary === undefined ? findChainWindow(config.models, "summary") : provided.summaryWindowTokens;
  return {
    summary: model("summary"),
    ...(summaryWindowTokens === undefined ? {} : { summaryWindowTokens }),
    largeFile: model("largeFile"),
    expansion: model("expansion"),
    ...(embedder === undefined ? {} : { embedder }),
    ...(earlierEmbedders === undefined ? {} : { earlierEmbedders }),
    memory: model("memory"),
    ...(reranker === undefined ? {} : { reranker }),
  };
}

/** The smallest known window of the models for a purpose, so that each of them can take what the first one was sent. */
function findChainWindow(settings: LoadedConfig["config"]["models"], purpose: GeneratePurpose): number | undefined {
  const windows = listModelNames(settings, purpose).flatMap((name) => findModelWindow(settings, name) ?? []);
  return windows.length === 0 ? undefined : Math.min(...windows);
}

/** Purposes that a daily token cap may hold back. Questions to the history and replies are never held back. */
const backgroundPurposes: readonly GeneratePurpose[] = ["summary", "largeFile", "memory"];

async function refuseAbove(store: Store, cap: number): Promise<void> {
  const used = await store.db
    .selectFrom("model_days")
    .select((eb) => eb.fn.sum<number>(eb("input_tokens", "+", eb.ref("output_tokens"))).as("tokens"))
    .where("day", "=", toDay(store.clock.now()))
    .where("purpose", "in", [...backgroundPurposes])
    .executeTakeFirst();
  if (Number(used?.tokens ?? 0) < cap) return;
  throw new VarveError("MODEL_PAUSED", `The ${cap} tokens a day for background work are used up.`, {
    remedy: "It goes on at midnight (UTC). Raise models.backgroundTokensPerDay to go on now.",
    details: { because: "spend" },
  });
}

export function createChainLimits({ context, advanced }: LoadedConfig["config"]): ChainLimits {
  return {
    ...defaultChainLimits,
    timeoutMs: context.summaryTimeoutMs,
    authFailuresMax: advanced.models.circuitBreakerThreshold,
    authPauseMs: advanced.models.circuitBreakerCooldownMs,
    windowCallsMax: context.summaryMaxCallsPerWindow,
  };
}
