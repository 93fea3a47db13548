import { VarveError } from "../domain/index.ts";
import type { FailureKind } from "./failure.ts";
import type { GeneratePurpose } from "./generate.ts";
import { isContextOverflow } from "./overflow.ts";

/** Why a model of a chain gave no answer. */
export interface ModelOutcome {
  model: string;
  message: string;
  /** Absent for a model that was skipped because it is paused. */
  kind?: FailureKind;
  pausedUntil?: number;
  pausedBy?: "auth" | "limit";
  error?: unknown;
}

/** Combines the failures of all models into the most serious error, with the message of each. */
export function createChainError(outcomes: readonly ModelOutcome[], purpose: GeneratePurpose): VarveError {
  if (outcomes.length === 0) {
    return new VarveError("BAD_CONFIG", `There is no model for ${purpose}.`, {
      remedy: `Set models.${purpose}, for example to anthropic/claude-haiku-4-5.`,
    });
  }
  const messages = outcomes.map(({ model, message }) => `${model}: ${message}`).join("; ");
  const details = {
    purpose,
    models: outcomes.map(({ model }) => model),
    overflow: outcomes.some(({ error }) => isContextOverflow(error)),
  };
  const refused = outcomes.find(({ kind }) => kind === "auth");
  if (refused !== undefined) {
    const [provider = ""] = refused.model.split("/");
    const own = refused.error instanceof VarveError ? refused.error.remedy : undefined;
    return new VarveError("MODEL_KEY_REFUSED", `The key of ${provider} was rejected. ${messages}`, {
      remedy:
        own ??
        `Check the key of ${provider}: models.auth, its environment variable, models.providers.${provider}.apiKey, or credentials.yaml.`,
      cause: refused.error,
      details,
    });
  }
  const isSetup = outcomes.every(({ kind }) => kind === "setup");
  const [first] = outcomes;
  if (isSetup && first?.error instanceof VarveError) return first.error;
  const pauses = outcomes.flatMap(({ pausedUntil }) => pausedUntil ?? []);
  if (pauses.length === outcomes.length) {
    const until = Math.min(...pauses);
    const isLimit = outcomes.every(({ pausedBy }) => pausedBy === "limit");
    return new VarveError("MODEL_PAUSED", `No model is called until ${new Date(until).toISOString()}. ${messages}`, {
      remedy: isLimit
        ? "It is tried again after the pause. Add a fallback model to go on now."
        : "Correct the key; it is tried again after the pause.",
      details: { ...details, until, because: isLimit ? "limit" : "auth" },
    });
  }
  const cause = outcomes.findLast(({ error }) => error !== undefined)?.error;
  return new VarveError("MODEL_FAILED", `No model answered. ${messages}`, { cause, details });
}

/** Whether a key was rejected: such an error must reach the caller, and no fallback text is stored. */
export function isKeyRefused(error: unknown): boolean {
  return error instanceof VarveError && error.code === "MODEL_KEY_REFUSED";
}
