import { type ErrorCode, errorCodes, VarveError } from "../../domain/index.ts";

/** What SQLite says, as what happened to the user and what to do. */
export function sqliteError(error: unknown, file: string): Error {
  if (error instanceof VarveError) return error;
  const { message, code } = error as { message?: string; code?: string };
  const text = message ?? String(error);
  const cause = error;
  // What was thrown on the other side of the thread is plain data here.
  if (code !== undefined && Object.hasOwn(errorCodes, code)) return new VarveError(code as ErrorCode, text, { cause });
  if (code?.startsWith("SQLITE_BUSY") || code?.startsWith("SQLITE_LOCKED")) {
    return new VarveError(
      "STORE_BUSY",
      `The database ${file} is in use by another process and did not get free in time.`,
      {
        remedy:
          "Try again; if it stays busy, see which process holds it with `varve status`, or raise store.busyTimeoutMs.",
        cause,
      },
    );
  }
  if (code?.startsWith("SQLITE_FULL") || /ENOSPC/.test(text)) {
    return new VarveError("STORE_FULL", `The disk of ${file} is full; nothing was written.`, {
      remedy: "Free some space (old files in the backups folder are a good start) and try again.",
      cause,
    });
  }
  if (code?.startsWith("SQLITE_READONLY") || /EROFS|EACCES/.test(text)) {
    return new VarveError("STORE_READ_ONLY", `The database ${file} cannot be written: ${text}.`, {
      remedy:
        "Check the owner and the rights of the file and its folder, or name another with VARVE_HOME or VARVE_DATABASE.",
      cause,
    });
  }
  if (code?.startsWith("SQLITE_CANTOPEN")) {
    return new VarveError("STORE_UNREACHABLE", `The database ${file} cannot be opened: ${text}.`, {
      remedy: "Check that the folder exists and can be written, or name another with VARVE_HOME or VARVE_DATABASE.",
      cause,
    });
  }
  if (code?.startsWith("SQLITE_CORRUPT") || code === "SQLITE_NOTADB") {
    return new VarveError("STORE_CORRUPT", `The file ${file} is damaged or not a Varve database: ${text}.`, {
      remedy: "Run `varve doctor`; `varve restore FILE` brings back a backup.",
      cause,
    });
  }
  if (code?.startsWith("SQLITE_IOERR")) {
    return new VarveError("STORE_IO", `Reading or writing ${file} failed: ${text}.`, {
      remedy: "Check the disk; nothing that was acknowledged before is lost. Then try again.",
      cause,
    });
  }
  return new VarveError("INTERNAL", `The database ${file} refused a statement: ${text}.`, { cause });
}
