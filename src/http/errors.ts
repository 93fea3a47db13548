import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { type ErrorCode, toVarveError, VarveError, type VarveErrorOptions } from "../domain/index.ts";

/** An error whose HTTP status differs from the one of its code. */
class HttpError extends VarveError {
  readonly #status: number;

  constructor(status: number, code: ErrorCode, message: string, options: VarveErrorOptions = {}) {
    super(code, message, options);
    this.#status = status;
  }

  override get httpStatus(): number {
    return this.#status;
  }
}

/** Converts any thrown value to the error that is sent. An unexpected error's message may contain secrets: it is only logged. */
export function toPublicError(error: unknown): VarveError {
  if (error instanceof HTTPException) return convertHttpException(error);
  const known = toVarveError(error);
  if (known.code !== "INTERNAL") return known;
  return new VarveError("INTERNAL", "An unexpected error happened inside the gateway.", {
    remedy: "The cause is in logs/gateway.log. Try again; if it happens again, run `varve doctor`.",
    cause: error,
  });
}

/** Converts the errors that the HTTP library itself throws. */
function convertHttpException(error: HTTPException): VarveError {
  switch (error.status) {
    case 415:
      return new HttpError(415, "BAD_REQUEST", "The request body is not declared as JSON.", {
        remedy: "Send it with the header content-type: application/json.",
      });
    case 504:
      return new HttpError(504, "ABORTED", "The request timed out.", {
        remedy:
          "It may still complete: check the result before you send it again. Messages with ids can be sent again safely. " +
          "The setting gateway.requestTimeoutMs is the limit.",
      });
    default:
      return error.status === 400
        ? new VarveError("BAD_REQUEST", `${error.message}.`, { remedy: "Send one JSON object as the body." })
        : new HttpError(error.status, "BAD_REQUEST", error.message || `HTTP ${error.status}.`);
  }
}

export function answerError(c: Context, error: VarveError): Response {
  const retry = error.details?.retryAfterSeconds;
  if (typeof retry === "number") c.header("Retry-After", String(retry));
  return c.json(error.toJSON(), error.httpStatus as ContentfulStatusCode);
}

/** Answers clients of the model proxy in their provider's error format; returns undefined for all other paths. */
export async function answerProxyError(c: Context, error: VarveError): Promise<Response | undefined> {
  const provider = /^\/proxy\/(anthropic|openai)\//.exec(c.req.path)?.[1];
  if (provider === undefined) return undefined;
  const { errorFormat } = await import("../proxy/index.ts");
  const retry = error.details?.retryAfterSeconds;
  if (typeof retry === "number") c.header("Retry-After", String(retry));
  const status = error.httpStatus as ContentfulStatusCode;
  const message = [error.message, error.remedy].filter(Boolean).join(" ");
  return c.json(errorFormat(provider === "openai" ? "openai" : "anthropic").error(status, message), status);
}

export function notFound(c: Context): Response {
  const error = new VarveError("NOT_FOUND", `There is nothing at ${c.req.path.slice(0, 200)}.`, {
    remedy: "The routes are listed in /api/openapi.json.",
  });
  return answerError(c, error);
}

export function wrongMethod(c: Context, methods: string[]): Response {
  const error = new HttpError(405, "BAD_REQUEST", `${c.req.method} is not supported at this path.`, {
    remedy: `Use ${methods.join(" or ")}.`,
  });
  c.header("Allow", methods.join(", "));
  return answerError(c, error);
}
