import { closeSync, fsyncSync, mkdirSync, openSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Replaces a file in one step: a reader, or a crash, sees all of the old text or all of the new. */
export function writeAtomically(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const target = followLink(path);
  const draft = `${target}.${process.pid}.tmp`;
  try {
    // Only its owner may read it: there may be secrets in it.
    const file = openSync(draft, "w", 0o600);
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, target);
    flushFolder(dirname(target));
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Until its folder is on disk as well, a power cut may bring the old file back. Windows has no such thing to flush. */
function flushFolder(folder: string): void {
  if (process.platform === "win32") return;
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** A settings file may be a link into somebody's collection of such files; the link stays. */
function followLink(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return path;
    throw error;
  }
}
