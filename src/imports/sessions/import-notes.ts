import { copyFileSync, mkdirSync, statSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { importedWorkspace } from "../../config/index.ts";
import type { NotesFile } from "../transcripts/openclaw/home.ts";

/**
 * Copies notes of other programs into the home, where searches read them. Their times are kept, because a note is as old
 * as its file. A copy that was changed here since is not overwritten by an older file.
 */
export function copyNotes(home: string, notes: readonly NotesFile[]): void {
  for (const { agent, path, relativePath } of notes) {
    const copy = join(importedWorkspace(home, agent), relativePath);
    const { atimeMs, mtimeMs } = statSync(path);
    const existing = statSync(copy, { throwIfNoEntry: false });
    if (existing && existing.mtimeMs >= mtimeMs - 1) continue;
    mkdirSync(dirname(copy), { recursive: true, mode: 0o700 });
    copyFileSync(path, copy);
    utimesSync(copy, atimeMs / 1000, mtimeMs / 1000);
  }
}
