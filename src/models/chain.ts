import { type Clock, type Random, systemClock, systemRandom, VarveError } from "../domain/index.ts";
import { ask } from "./ask.ts";
import { chainError, type Outcome } from "./chain-error.ts";
import { classify, type Failure } from "./failure.ts";
import type { Generated, GeneratePurpose, GenerateRequest, NamedModel } from "./generate.ts";
import { inMemoryLedger, type ModelLedger } from "./ledger.ts";
import { type ChainLimits, defaultChainLimits } from "./limits.ts";
import { admitCall, isPaused, recordAnswer, recordFailure } from "./state.ts";
import { backoffMs, type Sleep, systemSleep, throwIfAborted } from "./wait.ts";

export interface ChainOptions {
  purpose: GeneratePurpose;
  ledger?: ModelLedger;
  clock?: Clock;
  random?: Random;
  sleep?: Sleep;
  limits?: Partial<ChainLimits>;
}

interface Run extends Required<Omit<ChainOptions, "limits">> {
  limits: ChainLimits;
  request: GenerateRequest;
  notes: string[];
}

/**
 * The first model and its fallbacks as one. A model is asked again after a failure that may pass, the next one after any
 * other; aborts and timeouts end it all at once. What comes back says what went wrong on the way.
 */
export function chain(
  models: readonly NamedModel[],
  options: ChainOptions,
): (request: GenerateRequest) => Promise<Generated & { model: string }> {
  const parts = {
    ledger: options.ledger ?? inMemoryLedger(),
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom,
    sleep: options.sleep ?? systemSleep,
    limits: { ...defaultChainLimits, ...options.limits },
    purpose: options.purpose,
  };
  return async (request) => {
    const run: Run = { ...parts, request, notes: [] };
    const outcomes: Outcome[] = [];
    for (const model of models) {
      const outcome = await tryModel(model, run);
      if ("answer" in outcome) {
        const { text, usage, notes = [] } = outcome.answer;
        return { text, usage, model: model.name, notes: [...run.notes, ...notes] };
      }
      outcomes.push(outcome);
    }
    throw chainError(outcomes, options.purpose);
  };
}

/** The name a model's state is kept under. */
export function ledgerName(purpose: GeneratePurpose, model?: string): string {
  return model === undefined ? purpose : `${purpose} ${model}`;
}

async function tryModel(model: NamedModel, run: Run): Promise<{ answer: Generated } | Outcome> {
  const { ledger, clock, limits, request, notes } = run;
  const name = ledgerName(run.purpose, model.name);
  const state = await ledger.read(name);
  if (isPaused(state, clock.now())) {
    const because = state.pausedBecause ?? "it failed too often";
    notes.push(`${model.name} is left alone until ${new Date(state.pausedUntil).toISOString()}: ${because}.`);
    return { model: model.name, pausedUntil: state.pausedUntil, message: because };
  }
  for (let attempt = 1; ; attempt += 1) {
    throwIfAborted(request.signal);
    await spend(run);
    const asked = await ask(model, request, limits.timeoutMs).catch(async (error: unknown) => {
      if (error instanceof VarveError && error.code === "MODEL_TIMEOUT") {
        await noteFailed(name, { message: error.message, kind: "transient" }, run);
      }
      throw error;
    });
    if ("answer" in asked) {
      await ledger.update(name, (before) => recordAnswer(before, clock.now(), asked.answer.usage));
      return asked;
    }
    const failure = classify(asked.error, clock.now());
    await noteFailed(name, failure, run);
    notes.push(`${model.name} failed: ${failure.message}`);
    if (failure.kind !== "transient" || attempt >= limits.attemptsMax) {
      return { model: model.name, kind: failure.kind, message: failure.message, error: asked.error };
    }
    await pauseBetween(attempt, failure, run);
  }
}

/** Takes one call out of the budget of the purpose, or throws when there is none left. */
async function spend({ ledger, purpose, clock, limits }: Run): Promise<void> {
  const now = clock.now();
  const state = await ledger.update(ledgerName(purpose), (before) => admitCall(before, now, limits));
  if (!isPaused(state, now)) return;
  const until = new Date(state.pausedUntil).toISOString();
  throw new VarveError("MODEL_PAUSED", `No model is asked for ${purpose} until ${until}: ${state.pausedBecause}.`, {
    remedy: "Wait, or allow more calls in the settings.",
    details: { purpose, until: state.pausedUntil, because: "spend" },
  });
}

async function noteFailed(name: string, failure: Failure, { ledger, clock, limits }: Run): Promise<void> {
  const noted = { isAuth: failure.kind === "auth", message: failure.message };
  await ledger.update(name, (before) => recordFailure(before, clock.now(), noted, limits));
}

async function pauseBetween(attempt: number, failure: Failure, run: Run): Promise<void> {
  const { limits, random, request, notes } = run;
  const asked = failure.retryAfterMs;
  const waitMs = Math.min(Math.max(asked ?? 0, backoffMs(attempt, limits.backoffMs, random)), limits.retryAfterMaxMs);
  if (asked !== undefined && asked > limits.retryAfterMaxMs) {
    notes.push(`It asked for ${seconds(asked)} of patience and got ${seconds(waitMs)}, the most there is.`);
  }
  await run.sleep(waitMs, request.signal).catch((error: unknown) => {
    throwIfAborted(request.signal);
    throw error;
  });
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
