import { VarveError } from "../../domain/index.ts";
import { redactPassword } from "./address.ts";
import { isNameError } from "./statement-names.ts";

const unreachable = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOTFOUND",
  "ETIMEDOUT",
  "EPIPE",
  "EHOSTUNREACH",
  "EAI_AGAIN",
]);

/** Whether a connection could not be opened or was lost, so that another attempt may succeed. */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof VarveError) return error.code === "STORE_UNREACHABLE";
  const { message, code } = error as { message?: string; code?: string };
  // A name that does not exist is not found later either, and a pool that is in use is waited for long enough.
  if (code === "ENOTFOUND" || message === poolTimeout) return false;
  return isUnreachable(code, message ?? "");
}

/** The driver's message for a call that got no connection of the pool in time. */
const poolTimeout = "timeout exceeded when trying to connect";

function isUnreachable(code: string | undefined, text: string): boolean {
  return (
    unreachable.has(code ?? "") ||
    code?.startsWith("08") === true ||
    ["57P01", "57P02", "57P03"].includes(code ?? "") ||
    /terminated|timeout|not queryable|no answer within/i.test(text)
  );
}

/** Translates a PostgreSQL or network error into a VarveError with a remedy. */
export function toPostgresError(error: unknown, database: string): Error {
  if (error instanceof VarveError) return error;
  const { message, code } = error as { message?: string; code?: string };
  const text = message ?? String(error);
  const address = redactPassword(database);
  const cause = error;
  if (isUnreachable(code, text)) {
    return new VarveError("STORE_UNREACHABLE", `PostgreSQL at ${address} cannot be reached: ${text || code}.`, {
      remedy:
        "Check that the server is running and that `database` (or VARVE_DATABASE) has the right host, port and database name.",
      cause,
    });
  }
  if (code?.startsWith("28") || code === "3D000") {
    return new VarveError("STORE_UNREACHABLE", `PostgreSQL at ${address} refused the connection: ${text}.`, {
      remedy: "Check the user, password and database name in `database` (or VARVE_DATABASE).",
      cause,
    });
  }
  if (code === "53100") {
    return new VarveError(
      "STORE_FULL",
      `The disk of the PostgreSQL server at ${address} is full; nothing was written.`,
      {
        remedy: "Free some space on the server and try again.",
        cause,
      },
    );
  }
  if (code === "53300" || code === "40001" || code === "40P01" || code === "55P03" || isNameError(error)) {
    return new VarveError("STORE_BUSY", `PostgreSQL at ${address} is busy: ${text}.`, { remedy: "Try again.", cause });
  }
  if (code === "23505") {
    return new VarveError("CONFLICT", `Another process wrote the same row first: ${text}.`, {
      remedy: "Try again.",
      cause,
    });
  }
  if (code === "25006") {
    return new VarveError("STORE_BUSY", `PostgreSQL at ${address} is read-only: ${text}.`, {
      remedy:
        "The server is a standby, or its primary has changed. Name all servers in `database`, such as postgres://user@a,b/varve?target_session_attrs=read-write; otherwise check default_transaction_read_only on the server.",
      cause,
    });
  }
  if (code === "42501") {
    return new VarveError("STORE_READ_ONLY", `PostgreSQL at ${address} does not let this user write: ${text}.`, {
      remedy: "Grant the user permission to create and write tables, or connect as another user.",
      cause,
    });
  }
  if (code === "22021") {
    return new VarveError("BAD_REQUEST", "A name or title contains the character NUL, which PostgreSQL cannot store.", {
      remedy: "Remove the character and try again.",
      cause,
    });
  }
  return new VarveError("INTERNAL", `PostgreSQL at ${address} refused a statement: ${text}.`, { cause });
}
