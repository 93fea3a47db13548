import { type ErrorCode, errorCodes, VarveError } from "../../domain/index.ts";

/** Translates an SQLite error into a VarveError with a remedy. */
export function toSqliteError(error: unknown, file: string): Error {
  if (error instanceof VarveError) return error;
  const { message, code } = error as { message?: string; code?: string };
  const text = message ?? String(error);
  const cause = error;
  // An error thrown in the worker thread arrives as plain data.
  if (code !== undefined && Object.hasOwn(errorCodes, code)) return new VarveError(code as ErrorCode, text, { cause });
  if (code?.startsWith("SQLITE_BUSY") || code?.startsWith("SQLITE_LOCKED")) {
    return new VarveError(
      "STORE_BUSY",
      `The database ${file} is in use by another process and was not released in time.`,
      {
        remedy:
          "Try again. If it stays busy, `varve status` shows which process uses it; store.busyTimeoutMs sets how long to wait.",
        cause,
      },
    );
  }
  if (code?.startsWith("SQLITE_FULL") || /ENOSPC/.test(text)) {
    return new VarveError("STORE_FULL", `The disk that holds ${file} is full; nothing was written.`, {
      remedy: "Free some space, for example by deleting old files in the backups folder, and try again.",
      cause,
    });
  }
  if (code?.startsWith("SQLITE_READONLY") || /EROFS|EACCES/.test(text)) {
    return new VarveError("STORE_READ_ONLY", `The database ${file} cannot be written: ${text}.`, {
      remedy:
        "Check the owner and permissions of the file and its folder, or choose another with VARVE_HOME or VARVE_DATABASE.",
      cause,
    });
  }
  if (code?.startsWith("SQLITE_CANTOPEN") || code === "ENOENT" || code === "ENOTDIR") {
    return new VarveError("STORE_UNREACHABLE", `The database ${file} cannot be opened: ${text}.`, {
      remedy: "Check that the folder exists and is writable, or choose another with VARVE_HOME or VARVE_DATABASE.",
      cause,
    });
  }
  if (code?.startsWith("SQLITE_CORRUPT") || code === "SQLITE_NOTADB") {
    return new VarveError("STORE_CORRUPT", `The file ${file} is damaged or is not a Varve database: ${text}.`, {
      remedy: "Run `varve doctor`. If it cannot repair the file, `varve restore FILE` restores a backup.",
      cause,
    });
  }
  if (code?.startsWith("SQLITE_IOERR")) {
    return new VarveError("STORE_IO", `Reading or writing ${file} failed: ${text}.`, {
      remedy: "Check the disk, then try again. Nothing that was acknowledged before is lost.",
      cause,
    });
  }
  return new VarveError("INTERNAL", `The database ${file} refused a statement: ${text}.`, { cause });
}
