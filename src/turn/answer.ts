import { setTimeout as sleep } from "node:timers/promises";
import { VarveError } from "../domain/index.ts";
import { classifyFailure, type Failure, isContextOverflow, parseOverflowLimit } from "../models/index.ts";
import { chooseRunners } from "./runners/choose.ts";
import type { Runner } from "./runners/port.ts";
import { toolLoop } from "./tool-loop.ts";
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
/** Without a number in the provider's words, the window is tried smaller each time. */
const unknownLimitShare = 0.6;
const recoveriesMax = 4;

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
  let facts: TurnFacts = {
    windowTokens: window.tokens,
    ...(runner.model === undefined ? {} : { model: runner.model }),
  };
  const { signal } = runtime;
  await services.context.prepare(turn.session, { ...facts, signal });
  let recoveries = 0;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const answered = await toolLoop(services, turn, { runner, facts, notes }, runtime);
      if (runner.model !== undefined) services.usage.record("chat", runner.model, { usage: answered.usage });
      return answered;
    } catch (error) {
      signal.throwIfAborted();
      if (isContextOverflow(error) && recoveries < recoveriesMax) {
        recoveries += 1;
        facts = { ...facts, windowTokens: shrinkWindow(facts.windowTokens, parseOverflowLimit(error)) };
        const result = await services.context.recoverFromOverflow(turn.session, error, { ...facts, signal });
        notes.push(`The prompt was too long for ${runner.model ?? runner.name}; ${shrunk(result)}.`);
        runtime.emit({ type: "restarted", because: "The prompt was too long and was compacted." });
        continue;
      }
      const failure = classifyFailure(error, services.store.clock.now());
      if (runner.model !== undefined) {
        services.usage.record("chat", runner.model, { error: failure.message, isAuth: failure.kind === "auth" });
      }
      if (failure.kind !== "transient" || attempt >= attemptsMax) throw error;
      notes.push(`${runner.model ?? runner.name} failed and was asked again: ${failure.message}`);
      runtime.emit({ type: "restarted", because: failure.message });
      const waitMs = Math.min(Math.max(failure.retryAfterMs ?? 0, backoffMs * 2 ** (attempt - 1)), patienceMs);
      await sleep(waitMs, undefined, { signal });
    }
  }
}

/** The window for the next attempt: below the limit that the provider named, or a share of the one that was too large. */
function shrinkWindow(windowTokens: number, limit: number | undefined): number {
  const known = limit === undefined ? Number.POSITIVE_INFINITY : Math.floor(limit * knownLimitShare);
  return known < windowTokens ? known : Math.floor(windowTokens * unknownLimitShare);
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
