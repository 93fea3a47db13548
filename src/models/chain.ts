import { type Clock, type Random, systemClock, systemRandom, VarveError } from "../domain/index.ts";
import { createChainError, type ModelOutcome } from "./chain-error.ts";
import { admitDailyCall } from "./daily-calls.ts";
import { classifyFailure, type Failure } from "./failure.ts";
import type { DailyCap, GeneratedText, GeneratePurpose, GenerateRequest, NamedModel } from "./generate.ts";
import {
  admitCall,
  type ChainLimits,
  createInMemoryLedger,
  defaultChainLimits,
  isPaused,
  type ModelLedger,
  type ModelState,
  recordAnswer,
  recordFailure,
} from "./model-state.ts";
import { abortedError, computeBackoff, rejectOnAbort, type Sleep, systemSleep, throwIfAborted } from "./wait.ts";

export interface ChainOptions {
  purpose: GeneratePurpose;
  ledger?: ModelLedger;
  clock?: Clock;
  random?: Random;
  sleep?: Sleep;
  limits?: Partial<ChainLimits>;
}

interface ChainRun extends Required<Omit<ChainOptions, "limits">> {
  limits: ChainLimits;
  request: GenerateRequest;
  notes: string[];
}

/**
 * Combines a model and its fallbacks. Temporary failures are retried, after others the next model is called; aborts and
 * timeouts end the call. The notes of the answer tell what failed on the way.
 */
export function createChain(
  models: readonly NamedModel[],
  options: ChainOptions,
): (request: GenerateRequest) => Promise<GeneratedText & { model: string }> {
  const parts = {
    ledger: options.ledger ?? createInMemoryLedger(),
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom,
    sleep: options.sleep ?? systemSleep,
    limits: { ...defaultChainLimits, ...options.limits },
    purpose: options.purpose,
  };
  return async (request) => {
    const run: ChainRun = { ...parts, request, notes: [] };
    const outcomes: ModelOutcome[] = [];
    for (const model of models) {
      const outcome = await tryModel(model, run);
      if ("answer" in outcome) {
        const { text, usage, notes = [] } = outcome.answer;
        return { text, usage, model: model.name, notes: [...run.notes, ...notes] };
      }
      outcomes.push(outcome);
    }
    throw createChainError(outcomes, options.purpose);
  };
}

/** The name under which the state of a model is stored. */
export function toLedgerName(purpose: GeneratePurpose, model?: string): string {
  return model === undefined ? purpose : `${purpose} ${model}`;
}

async function tryModel(model: NamedModel, run: ChainRun): Promise<{ answer: GeneratedText } | ModelOutcome> {
  const { ledger, clock, limits, request, notes } = run;
  const name = toLedgerName(run.purpose, model.name);
  const state = await ledger.read(name);
  if (isPaused(state, clock.now())) {
    const because = state.pausedBecause ?? "it failed too often";
    notes.push(`${model.name} is paused until ${new Date(state.pausedUntil).toISOString()}: ${because}.`);
    const pausedBy = state.authFailures >= limits.authFailuresMax ? "auth" : "limit";
    return { model: model.name, pausedUntil: state.pausedUntil, pausedBy, message: because };
  }
  for (let attempt = 1; ; attempt += 1) {
    throwIfAborted(request.signal);
    const spent = model.dailyCap && (await takeDailyCall(model.dailyCap, run));
    if (spent !== undefined) {
      notes.push(`${model.name} was not called: ${spent}`);
      return { model: model.name, kind: "unable", message: spent };
    }
    await takeFromBudget(run);
    const asked = await callOnce(model, request, limits.timeoutMs).catch(async (error: unknown) => {
      if (error instanceof VarveError && error.code === "MODEL_TIMEOUT") {
        await recordFailed(name, { message: error.message, kind: "transient" }, run);
      }
      throw error;
    });
    if ("answer" in asked) {
      await ledger.update(name, (before) => recordAnswer(before, clock.now(), asked.answer.usage));
      return asked;
    }
    const failure = classifyFailure(asked.error, clock.now());
    const { pausedUntil } = await recordFailed(name, failure, run);
    notes.push(`${model.name} failed: ${failure.message}`);
    if (failure.kind === "limited") {
      const { kind, message } = failure;
      return { model: model.name, kind, message, pausedUntil, pausedBy: "limit", error: asked.error };
    }
    if (failure.kind !== "transient" || attempt >= limits.attemptsMax) {
      return { model: model.name, kind: failure.kind, message: failure.message, error: asked.error };
    }
    await waitBeforeRetry(attempt, failure, run);
  }
}

/** Takes one call from the budget of the purpose, or throws when it is used up. */
async function takeFromBudget({ ledger, purpose, clock, limits }: ChainRun): Promise<void> {
  const now = clock.now();
  const state = await ledger.update(toLedgerName(purpose), (before) => admitCall(before, now, limits));
  throwIfPaused(state, purpose, now);
}

/** Takes one call from a daily cap; when it is used up, returns the reason. */
async function takeDailyCall(cap: DailyCap, { ledger, purpose, clock }: ChainRun): Promise<string | undefined> {
  const now = clock.now();
  // A call that the purpose's own budget refuses must not count.
  throwIfPaused(await ledger.read(toLedgerName(purpose)), purpose, now);
  const state = await ledger.update(cap.name, (before) => admitDailyCall(before, now, cap));
  if (!isPaused(state, now)) return undefined;
  return `${state.pausedBecause}; the next can be made at ${new Date(state.pausedUntil).toISOString()}.`;
}

function throwIfPaused(state: ModelState, purpose: GeneratePurpose, now: number): void {
  if (!isPaused(state, now)) return;
  const until = new Date(state.pausedUntil).toISOString();
  throw new VarveError("MODEL_PAUSED", `No model is called for ${purpose} until ${until}: ${state.pausedBecause}.`, {
    remedy: "Wait, or raise the call limit in the settings.",
    details: { purpose, until: state.pausedUntil, because: "spend" },
  });
}

async function recordFailed(name: string, failure: Failure, { ledger, clock, limits }: ChainRun): Promise<ModelState> {
  const now = clock.now();
  const { kind, message, limitedUntil = 0 } = failure;
  const pause = kind === "limited" ? { pausedUntil: Math.max(limitedUntil, now + limits.authPauseMs) } : {};
  const noted = { isAuth: kind === "auth", message, ...pause };
  return ledger.update(name, (before) => recordFailure(before, now, noted, limits));
}

async function waitBeforeRetry(attempt: number, failure: Failure, run: ChainRun): Promise<void> {
  const { limits, random, request, notes } = run;
  const asked = failure.retryAfterMs;
  const waitMs = Math.min(
    Math.max(asked ?? 0, computeBackoff(attempt, limits.backoffMs, random)),
    limits.retryAfterMaxMs,
  );
  if (asked !== undefined && asked > limits.retryAfterMaxMs) {
    notes.push(`It asked to wait ${formatSeconds(asked)}; the limit is ${formatSeconds(waitMs)}.`);
  }
  await run.sleep(waitMs, request.signal).catch((error: unknown) => {
    throwIfAborted(request.signal);
    throw error;
  });
}

function formatSeconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}

/**
 * Calls a model once, with a time limit. A failure of the model is returned; only a cancellation is thrown: `ABORTED`
 * by the caller's signal, `MODEL_TIMEOUT` by the time limit.
 */
async function callOnce(
  model: NamedModel,
  request: GenerateRequest,
  timeoutMs: number,
): Promise<{ answer: GeneratedText } | { error: unknown }> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = request.signal === undefined ? timeout : AbortSignal.any([request.signal, timeout]);
  try {
    return { answer: await rejectOnAbort(model.call({ ...request, signal }), signal) };
  } catch (error) {
    if (request.signal?.aborted) throw abortedError(request.signal);
    if (timeout.aborted || hasName(error, "TimeoutError")) {
      throw new VarveError("MODEL_TIMEOUT", `${model.name} did not answer within ${timeoutMs} ms.`, {
        remedy: "Choose a faster model, or raise the time limit.",
        cause: error,
        details: { model: model.name, timeoutMs },
      });
    }
    if (hasName(error, "AbortError")) throw error;
    return { error };
  }
}

function hasName(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name;
}
