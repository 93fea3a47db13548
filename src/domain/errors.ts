/**
 * Every failure Varve reports is a `VarveError`. The code is its kind, the message says what happened and why, the
 * remedy what to do. Surfaces map the kind once: the command line to an exit code, the gateway to an HTTP status.
 */
export const errorKinds = {
  /** The request is wrong: correct it and send it again. */
  usage: { exitCode: 2, httpStatus: 400 },
  not_found: { exitCode: 3, httpStatus: 404 },
  /** Rejected by permission, scope or policy. */
  refused: { exitCode: 4, httpStatus: 403 },
  unauthorized: { exitCode: 4, httpStatus: 401 },
  conflict: { exitCode: 1, httpStatus: 409 },
  too_large: { exitCode: 2, httpStatus: 413 },
  rate_limited: { exitCode: 1, httpStatus: 429 },
  /** The store is busy or unreachable: try again. */
  unavailable: { exitCode: 5, httpStatus: 503 },
  failed: { exitCode: 1, httpStatus: 500 },
} as const;

export type ErrorKind = keyof typeof errorKinds;

/** Error codes with their kinds. A code is part of the contract: it is never renamed. */
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
  /** Every model of a chain failed. */
  MODEL_FAILED: "failed",
  /** The provider rejected the key. Not retried, and no fallback text is stored. */
  MODEL_KEY_REFUSED: "failed",
  /** The call budget is used up, or the key was rejected too often: no model is called until a given time. */
  MODEL_PAUSED: "unavailable",
  MODEL_TIMEOUT: "failed",
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof errorCodes;

export interface VarveErrorOptions {
  /** The remedy, as a sentence. */
  remedy?: string;
  cause?: unknown;
  /** Facts for programs: the invalid part of a key, the line of a file. */
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

  /** The error format of every surface. */
  toJSON(): { error: { code: ErrorCode; message: string; remedy?: string; details?: Record<string, unknown> } } {
    return { error: { code: this.code, message: this.message, remedy: this.remedy, details: this.details } };
  }
}

/** Converts any thrown value; a `VarveError` is returned unchanged. */
export function toVarveError(error: unknown): VarveError {
  if (error instanceof VarveError) return error;
  if (error instanceof Error && error.name === "AbortError") {
    return new VarveError("ABORTED", "The operation was cancelled.", { cause: error });
  }
  const message = error instanceof Error ? error.message : String(error);
  return new VarveError("INTERNAL", message, { cause: error });
}
