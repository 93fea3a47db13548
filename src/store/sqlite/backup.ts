import { chmodSync, closeSync, fsyncSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import type { BackupResult } from "../port.ts";
import type { Connection } from "./connection.ts";

/** Copies the database page by page while it is in use, and names the copy only when it is whole and on disk. */
export async function backupInto(connection: Connection, file: string): Promise<BackupResult> {
  const partial = `${file}.partial`;
  rmSync(partial, { force: true });
  try {
    await connection.call({ op: "backup", file: partial });
    chmodSync(partial, 0o600);
    const handle = openSync(partial, "r+");
    fsyncSync(handle);
    closeSync(handle);
    renameSync(partial, file);
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
  return { file, bytes: statSync(file).size };
}
