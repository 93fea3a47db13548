import { redactSecrets, VarveError } from "../domain/index.ts";
import { collectErrorText, isContextOverflow } from "./overflow.ts";

/**
 * How to react to a failure: `auth` is never retried; `unable` is a request that this model can never fulfil; `setup`
 * must be fixed on this side; `limited` is an account that may not be used for a while; `transient` may succeed when
 * retried.
 */
export type FailureKind = "auth" | "unable" | "setup" | "limited" | "transient";

export interface Failure {
  kind: FailureKind;
  /** Without secrets, and short enough to store. */
  message: string;
  status?: number;
  /** How long the provider asks to wait. */
  retryAfterMs?: number;
  /** For `limited`: when the limit ends, if the provider says so. */
  limitedUntil?: number;
}

const messageMax = 500;
const causesMax = 6;
/** Client errors that may succeed when retried: request timeout, conflict, too early, too many requests. */
const retryableStatuses = [408, 409, 425, 429];
const badKey =
  /api[_ ]key[_ ](?:not valid|invalid)|invalid[_ ](?:x-)?api[_ -]key|incorrect api key|authentication_error/i;
/** An exhausted plan also returns 429, but for hours. */
const quotaExhausted = /insufficient_quota|credit balance is too low|billing_hard_limit/i;
const unsupportedRequest =
  /invalid_request_error|not_found_error|model_not_found|unsupported_(?:parameter|value)|not supported/i;

export function classifyFailure(error: unknown, now: number): Failure {
  const { status, headers } = findResponse(error);
  const text = collectErrorText(error);
  const message = truncate(redactSecrets(text.split("\n")[0] || "It failed without a message."));
  const described = status === undefined ? message : `HTTP ${status}: ${message}`;
  const base = { message: described, status };
  if (error instanceof VarveError) return { ...base, ...classifyOwnError(error) };
  if (status === 401 || status === 403 || (status === 400 && badKey.test(text))) return { ...base, kind: "auth" };
  if (isContextOverflow(error) || quotaExhausted.test(text)) return { ...base, kind: "unable" };
  if (status !== undefined && status >= 400 && status < 500 && !retryableStatuses.includes(status)) {
    return { ...base, kind: "unable" };
  }
  // An error inside a stream has no status, only a message.
  if (status === undefined && badKey.test(text)) return { ...base, kind: "auth" };
  if (status === undefined && unsupportedRequest.test(text)) return { ...base, kind: "unable" };
  return { ...base, kind: "transient", retryAfterMs: parseRetryAfter(headers, now) };
}

/** A model that returned a useless answer reports it with an error code. */
function classifyOwnError({ code, details }: VarveError): Pick<Failure, "kind" | "limitedUntil"> {
  if (code === "MODEL_KEY_REFUSED") return { kind: "auth" };
  if (code === "MODEL_PAUSED") {
    const until = details?.until;
    return { kind: "limited", ...(typeof until === "number" ? { limitedUntil: until } : {}) };
  }
  if (code !== "MODEL_FAILED") return { kind: "setup" };
  return { kind: details?.retry === true ? "transient" : "unable" };
}

/** The status and headers of the response, anywhere in the chain of causes. */
function findResponse(error: unknown): { status?: number; headers?: Record<string, string> } {
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

function truncate(text: string): string {
  return text.length > messageMax ? `${text.slice(0, messageMax)}…` : text;
}

const secondsPattern = /^\d{1,9}(?:\.\d{1,6})?$/;

/** How long a provider asks to wait, from the response headers: in seconds, milliseconds, or as a date. */
export function parseRetryAfter(
  headers: Readonly<Record<string, string>> | undefined,
  now: number,
): number | undefined {
  if (headers === undefined) return undefined;
  const find = (name: string) =>
    Object.entries(headers)
      .find(([key]) => key.toLowerCase() === name)?.[1]
      .trim();
  const exact = find("retry-after-ms");
  if (exact !== undefined && secondsPattern.test(exact)) return Number(exact);
  const header = find("retry-after");
  if (header === undefined) return undefined;
  if (secondsPattern.test(header)) return Number(header) * 1_000;
  // Only dates contain letters; `Date.parse` would accept `-5` too.
  const date = /[A-Za-z]{3}/.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
