import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { Database } from "better-sqlite3";
import { VarveError } from "../../domain/index.ts";
import { systemSleep } from "../wait.ts";

const pollMs = 25;

/**
 * Runs work while no other process on this machine does. The lock is an empty SQLite file: SQLite locks are held by the
 * operating system, so a killed process releases its lock. Deliberately not a lock-file library: those judge by age
 * whether the owner is dead.
 */
export async function runLocked<T>(path: string, waitMsMax: number, work: () => Promise<T>): Promise<T> {
  const { default: SqliteFile } = await import("better-sqlite3");
  const file = openLock(path, (at) => new SqliteFile(at, { timeout: 0 }));
  try {
    const until = performance.now() + waitMsMax;
    while (!tryLock(file)) {
      if (performance.now() >= until) {
        throw new VarveError("MODEL_FAILED", `Another process has held the lock ${path} for ${waitMsMax} ms.`, {
          remedy: "Look for a Varve process that hangs, and end it.",
          details: { retry: true },
        });
      }
      await systemSleep(pollMs);
    }
    return await work();
  } finally {
    file.close();
  }
}

function openLock(path: string, open: (path: string) => Database): Database {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return open(path);
  } catch (cause) {
    throw new VarveError("BAD_FILE", `${path} cannot be opened: ${cause instanceof Error ? cause.message : cause}.`, {
      remedy: "Renewed tokens must be stored: let Varve write to its home folder.",
      cause,
    });
  }
}

function tryLock(file: Database): boolean {
  try {
    file.exec("begin exclusive");
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "SQLITE_BUSY") return false;
    throw error;
  }
}
