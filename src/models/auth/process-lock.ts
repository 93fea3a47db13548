import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { Database } from "better-sqlite3";
import { VarveError } from "../../domain/index.ts";
import { systemSleep } from "../wait.ts";

const lookEveryMs = 25;

/**
 * Does something while no other process on this machine does. An empty SQLite file serves as the lock, for its lock is
 * one of the operating system: a process that is killed gives it back, and none has to be judged dead.
 */
export async function withProcessLock<T>(path: string, waitMsMax: number, work: () => Promise<T>): Promise<T> {
  const { default: SqliteFile } = await import("better-sqlite3");
  const file = openLock(path, (at) => new SqliteFile(at, { timeout: 0 }));
  try {
    const until = performance.now() + waitMsMax;
    while (!taken(file)) {
      if (performance.now() >= until) {
        throw new VarveError("MODEL_FAILED", `Another process has held ${path} for ${waitMsMax} ms.`, {
          remedy: "Look for a process of Varve that hangs, and end it.",
          details: { retry: true },
        });
      }
      await systemSleep(lookEveryMs);
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
      remedy: "Tokens that are renewed have to be kept: let Varve write to its home folder.",
      cause,
    });
  }
}

function taken(file: Database): boolean {
  try {
    file.exec("begin exclusive");
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "SQLITE_BUSY") return false;
    throw error;
  }
}
