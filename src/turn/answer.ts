import { setTimeout as sleep } from "node:timers/promises";
import { VarveError } from "../domain/index.ts";
import { classifyFailure, type Failure, isContextOverflow, parseOverflowLimit } from "../models/index.ts";
import { chooseRunners } from "./runners/choose.ts";
import type { Runner } from "./runners/port.ts";
import { type Plan, toolLoop } from "./tool-loop.ts";
import type { Answered, Turn, TurnFacts, TurnRuntime, TurnServices } from "./turn.ts";
import { resolveWindow } from "./window.ts";

const attemptsMax = 3;
const backoffMs = 500;
const patienceMs = 30_000;

/** Asks the first model, with retries, then the fallbacks. The notes list what failed on the way. */
export async function answerTurn(services: TurnServices, turn: Turn, runtime: TurnRuntime): Promise<Answered> {
  const notes: string[] = [];
  const failures: { runner: Runner; failure: Failure; error: unknown }[] = [];
  const { claim, session } = turn;
  for (const runner of chooseRunners(services, session)) {
    runtime.emit({
      type: "started",
      turn: claim.turn,
      attempt: claim.attempt,
      runner: runner.name,
      model: runner.model,
    });
    try {
      return await askRunner(services, turn, runner, runtime, notes);
    } catch (error) {
      runtime.signal.throwIfAborted();
      const failure = classifyFailure(error, services.store.clock.now());
      failures.push({ runner, failure, error });
      notes.push(`${runner.model ?? runner.name} gave no answer: ${failure.message}`);
      runtime.emit({ type: "restarted", because: failure.message });
    }
  }
  throw gravest(failures);
}

/** The share of a known limit that the next prompt may take: the estimates were too low before. */
const knownLimitShare = 0.8;
/** Without a number in the provider's words, the next window is this share of the prompt that was too long. */
const unknownLimitShare = 0.6;
/** A window below this, without tools and system prompt, holds no conversation. */
const windowTokensMin = 1_000;

/** The windows that turned out smaller than declared, by model: the next turn starts with what was accepted. */
const acceptedWindows = new WeakMap<TurnServices["store"], Map<string, number>>();

/** Asks one model until it answers or fails for good. A prompt that is too long is compacted, and made smaller each time. */
async function askRunner(
  services: TurnServices,
  turn: Turn,
  runner: Runner,
  runtime: TurnRuntime,
  notes: string[],
): Promise<Answered> {
  const window = resolveWindow(services.config, runner.model);
  if (window.warning !== undefined) notes.push(window.warning);
  const accepted = acceptedWindows.get(services.store) ?? new Map<string, number>();
  acceptedWindows.set(services.store, accepted);
  const name = runner.model ?? runner.name;
  let facts: TurnFacts = {
    windowTokens: Math.min(window.tokens, accepted.get(name) ?? window.tokens),
    ...(runner.model === undefined ? {} : { model: runner.model }),
  };
  const { signal } = runtime;
  await services.context.prepare(turn.session, { ...facts, signal });
  for (let attempt = 1; ; ) {
    const plan: Plan = { runner, facts, notes };
    try {
      const answered = await toolLoop(services, turn, plan, runtime);
      if (facts.windowTokens < window.tokens) accepted.set(name, facts.windowTokens);
      if (runner.model !== undefined) services.usage.record("chat", runner.model, { usage: answered.usage });
      return answered;
    } catch (error) {
      signal.throwIfAborted();
      const smaller = isContextOverflow(error) ? shrinkWindow(plan, parseOverflowLimit(error)) : undefined;
      if (smaller !== undefined) {
        facts = { ...facts, windowTokens: smaller };
        const room = { ...facts, windowTokens: Math.max(windowTokensMin, smaller - (plan.overheadTokens ?? 0)) };
        const result = await services.context.recoverFromOverflow(turn.session, error, { ...room, signal });
        notes.push(`The prompt was too long for ${name}; ${shrunk(result)}.`, ...(result?.notes ?? []));
        runtime.emit({ type: "restarted", because: "The prompt was too long and was compacted." });
        continue;
      }
      const failure = classifyFailure(error, services.store.clock.now());
      if (runner.model !== undefined) {
        services.usage.record("chat", runner.model, { error: failure.message, isAuth: failure.kind === "auth" });
      }
      if (failure.kind !== "transient" || attempt >= attemptsMax) throw error;
      notes.push(`${name} failed and was asked again: ${failure.message}`);
      runtime.emit({ type: "restarted", because: failure.message });
      const waitMs = Math.min(Math.max(failure.retryAfterMs ?? 0, backoffMs * 2 ** (attempt - 1)), patienceMs);
      await sleep(waitMs, undefined, { signal });
      attempt += 1;
    }
  }
}

/**
 * The window for the next attempt: below the limit that the provider named, or a share of the prompt that was refused,
 * whatever window was declared. It shrinks each time, so that it converges on any real window; undefined when a smaller
 * one would hold no conversation.
 */
function shrinkWindow(
  { facts, promptTokens, overheadTokens = 0 }: Plan,
  limit: number | undefined,
): number | undefined {
  const refused = Math.min(facts.windowTokens, promptTokens ?? facts.windowTokens);
  const known = limit === undefined ? Number.POSITIVE_INFINITY : Math.floor(limit * knownLimitShare);
  const smaller = known < facts.windowTokens ? known : Math.floor(refused * unknownLimitShare);
  // Tools and system prompt cannot be shortened: the rest must hold the request.
  return smaller - overheadTokens < windowTokensMin && refused - overheadTokens <= windowTokensMin * 2
    ? undefined
    : Math.max(smaller, overheadTokens + windowTokensMin);
}

function shrunk(result: { tokensBefore: number; tokensAfter: number } | undefined): string {
  return result === undefined
    ? "nothing could be compacted"
    : `compacted: ${result.tokensBefore} → ${result.tokensAfter} tokens`;
}

/** One error for all failed models, with the remedy of the most serious failure. */
function gravest(failures: readonly { runner: Runner; failure: Failure; error: unknown }[]): VarveError {
  const [only] = failures;
  if (failures.length === 1 && only?.error instanceof VarveError) return only.error;
  const reasons = failures
    .map(({ runner, failure }) => `${runner.model ?? runner.name}: ${failure.message}`)
    .join("; ");
  const refused = failures.find(({ failure }) => failure.kind === "auth");
  const tooLong = failures.find(({ error }) => isContextOverflow(error));
  const remedy = refused
    ? `Check the key of ${refused.runner.model?.split("/")[0]}.`
    : tooLong
      ? "The message is kept. Send a shorter one, or use a model with a larger window (models.chat, models.windows)."
      : "The message is kept. Send it again later, or name more models in models.chatFallbacks.";
  return new VarveError(refused ? "MODEL_KEY_REFUSED" : "MODEL_FAILED", `No model answered. ${reasons}`, {
    remedy,
    cause: failures.at(-1)?.error,
  });
}
