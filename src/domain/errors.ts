/**
 * Every failure Varve reports is a `VarveError`. The code says what kind it is, the message what happened and why,
 * the remedy what to do. Surfaces map the kind once: the command line to an exit code, the gateway to a status.
 */
export const errorKinds = {
  /** The request itself is wrong: fix it and send it again. */
  usage: { exitCode: 2, httpStatus: 400 },
  not_found: { exitCode: 3, httpStatus: 404 },
  /** Permission, scope or policy. */
  refused: { exitCode: 4, httpStatus: 403 },
  unauthorized: { exitCode: 4, httpStatus: 401 },
  conflict: { exitCode: 1, httpStatus: 409 },
  too_large: { exitCode: 2, httpStatus: 413 },
  rate_limited: { exitCode: 1, httpStatus: 429 },
  /** The store is busy or cannot be reached: try again. */
  unavailable: { exitCode: 5, httpStatus: 503 },
  failed: { exitCode: 1, httpStatus: 500 },
} as const;

export type ErrorKind = keyof typeof errorKinds;

/** The codes, each with the kind it belongs to. A code is part of the contract: it is never renamed. */
export const errorCodes = {
  ABORTED: "failed",
  INTERNAL: "failed",
  BAD_REQUEST: "usage",
  BAD_KEY: "usage",
  BAD_MESSAGE: "usage",
  BAD_CONFIG: "usage",
  BAD_FILE: "usage",
  UNKNOWN_FORMAT: "usage",
  AMBIGUOUS: "usage",
  NOT_FOUND: "not_found",
  SESSION_NOT_FOUND: "not_found",
  ENTRY_NOT_FOUND: "not_found",
  FILE_NOT_FOUND: "not_found",
  NOTHING_TO_RESTORE: "not_found",
  CONFLICT: "conflict",
  FILE_ID_TAKEN: "conflict",
  REFUSED: "refused",
  SEND_DENIED: "refused",
  FORBIDDEN: "refused",
  UNAUTHORIZED: "unauthorized",
  TOO_LARGE: "too_large",
  RATE_LIMITED: "rate_limited",
  PORT_IN_USE: "failed",
  STORE_BUSY: "unavailable",
  STORE_UNREACHABLE: "unavailable",
  STORE_READ_ONLY: "refused",
  STORE_FULL: "failed",
  STORE_IO: "failed",
  STORE_CORRUPT: "failed",
  STORE_CLOSED: "failed",
  SCHEMA_NEWER: "refused",
  MIGRATION_FAILED: "failed",
  MISSING_PACKAGE: "failed",
  /** Every model of a chain was asked in vain. */
  MODEL_FAILED: "failed",
  /** A provider does not take the key. It is not retried, and nothing is written in its place. */
  MODEL_KEY_REFUSED: "failed",
  /** The budget of calls is spent, or the key was refused too often: no model is asked until a time. */
  MODEL_PAUSED: "unavailable",
  MODEL_TIMEOUT: "failed",
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof errorCodes;

export interface VarveErrorOptions {
  /** What to do about it, as a sentence. */
  remedy?: string;
  cause?: unknown;
  /** Facts a program may want: the bad part of a key, the line of a file. */
  details?: Record<string, unknown>;
}

export class VarveError extends Error {
  readonly code: ErrorCode;
  readonly remedy: string | undefined;
  readonly details: Record<string, unknown> | undefined;

  constructor(code: ErrorCode, message: string, options: VarveErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "VarveError";
    this.code = code;
    this.remedy = options.remedy;
    this.details = options.details;
  }

  get kind(): ErrorKind {
    return errorCodes[this.code];
  }

  get exitCode(): number {
    return errorKinds[this.kind].exitCode;
  }

  get httpStatus(): number {
    return errorKinds[this.kind].httpStatus;
  }

  /** The shape every surface answers with. */
  toJSON(): { error: { code: ErrorCode; message: string; remedy?: string; details?: Record<string, unknown> } } {
    return { error: { code: this.code, message: this.message, remedy: this.remedy, details: this.details } };
  }
}

/** Any thrown value as a `VarveError`; what is one already stays itself. */
export function toVarveError(error: unknown): VarveError {
  if (error instanceof VarveError) return error;
  if (error instanceof Error && error.name === "AbortError") {
    return new VarveError("ABORTED", "The operation was cancelled.", { cause: error });
  }
  const message = error instanceof Error ? error.message : String(error);
  return new VarveError("INTERNAL", message, { cause: error });
}
