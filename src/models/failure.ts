import { redactSecrets, VarveError } from "../domain/index.ts";
import { errorText, isContextOverflow } from "./overflow.ts";
import { retryAfterMs } from "./retry-after.ts";

/**
 * What to do about a failure: `auth` is never retried; `unable` is a model that cannot do this, whoever asks how often;
 * `setup` is something to be put right on this side; `transient` may be gone at the next attempt.
 */
export type FailureKind = "auth" | "unable" | "setup" | "transient";

export interface Failure {
  kind: FailureKind;
  /** Without secrets, and short enough to be kept. */
  message: string;
  status?: number;
  /** How long the provider asks to wait. */
  retryAfterMs?: number;
}

const messageMax = 500;
const causesMax = 6;
/** Client errors that another attempt can cure: a timeout on the way, a conflict, too early, too many requests. */
const curable = [408, 409, 425, 429];
const badKey =
  /api[_ ]key[_ ](?:not valid|invalid)|invalid[_ ](?:x-)?api[_ -]key|incorrect api key|authentication_error/i;
/** A plan that is used up says 429 too, and says so for hours. */
const usedUp = /insufficient_quota|credit balance is too low|billing_hard_limit/i;
const cannot = /invalid_request_error|not_found_error|model_not_found|unsupported_(?:parameter|value)|not supported/i;

export function classify(error: unknown, now: number): Failure {
  const { status, headers } = answerOf(error);
  const text = errorText(error);
  const message = shorten(redactSecrets(text.split("\n")[0] || "It failed without a word."));
  const described = status === undefined ? message : `HTTP ${status}: ${message}`;
  const base = { message: described, status };
  if (error instanceof VarveError) return { ...base, kind: kindOfOwn(error) };
  if (status === 401 || status === 403 || (status === 400 && badKey.test(text))) return { ...base, kind: "auth" };
  if (isContextOverflow(error) || usedUp.test(text)) return { ...base, kind: "unable" };
  if (status !== undefined && status >= 400 && status < 500 && !curable.includes(status)) {
    return { ...base, kind: "unable" };
  }
  // An error inside a stream has no status of its own, only its words.
  if (status === undefined && badKey.test(text)) return { ...base, kind: "auth" };
  if (status === undefined && cannot.test(text)) return { ...base, kind: "unable" };
  return { ...base, kind: "transient", retryAfterMs: retryAfterMs(headers, now) };
}

/** A model that answered with something of no use reports it with a code of its own. */
function kindOfOwn(error: VarveError): FailureKind {
  if (error.code === "MODEL_KEY_REFUSED") return "auth";
  if (error.code !== "MODEL_FAILED") return "setup";
  return error.details?.retry === true ? "transient" : "unable";
}

/** The status and the headers of the answer an error stands for, wherever in its causes they are. */
function answerOf(error: unknown): { status?: number; headers?: Record<string, string> } {
  let at: unknown = error;
  for (let depth = 0; depth < causesMax && typeof at === "object" && at !== null; depth += 1) {
    const { statusCode, responseHeaders } = at as { statusCode?: unknown; responseHeaders?: unknown };
    if (typeof statusCode === "number") {
      const isRecord = typeof responseHeaders === "object" && responseHeaders !== null;
      return { status: statusCode, headers: isRecord ? (responseHeaders as Record<string, string>) : undefined };
    }
    at = "cause" in at ? at.cause : undefined;
  }
  return {};
}

function shorten(text: string): string {
  return text.length > messageMax ? `${text.slice(0, messageMax)}…` : text;
}
