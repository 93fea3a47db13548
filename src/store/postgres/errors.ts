import { VarveError } from "../../domain/index.ts";
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

/** The URL without its password. */
export function redactPassword(database: string): string {
  try {
    const url = new URL(database);
    if (url.password !== "") url.password = "***";
    return url.toString();
  } catch {
    return "the configured PostgreSQL URL";
  }
}

/** Translates a PostgreSQL or network error into a VarveError with a remedy. */
export function toPostgresError(error: unknown, database: string): Error {
  if (error instanceof VarveError) return error;
  const { message, code } = error as { message?: string; code?: string };
  const text = message ?? String(error);
  const address = redactPassword(database);
  const cause = error;
  if (
    unreachable.has(code ?? "") ||
    code?.startsWith("08") ||
    code === "57P01" ||
    code === "57P03" ||
    /terminated|timeout|not queryable/i.test(text)
  ) {
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
  if (code === "25006" || code === "42501") {
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
