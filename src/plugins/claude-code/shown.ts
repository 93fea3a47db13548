import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { writeAtomically } from "../../config/index.ts";

/** What stands in a session's context already because a hook put it there, by citation. */
export interface Shown {
  citations: ReadonlySet<string>;
  add(citations: readonly string[]): void;
  /** The context was compacted or cleared: nothing of it stands there any more. */
  clear(): void;
}

const stateSchema = z.object({ shown: z.array(z.string()) });
const shownMax = 500;
/** Claude Code itself deletes transcripts after so long. */
const keptMs = 30 * 24 * 3_600_000;

/**
 * Remembered in a small file for each session: a hook is a process of its own, and at the first prompt of a session the
 * store knows nothing of it yet.
 */
export function shownIn(home: string, sessionId: string): Shown {
  const folder = join(home, "hooks", "claude-code");
  const file = join(folder, `${sessionId}.json`);
  const known = read(file);
  return {
    citations: new Set(known),
    add(citations) {
      if (citations.length === 0) return;
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeAtomically(file, JSON.stringify({ shown: [...known, ...citations].slice(-shownMax) }));
    },
    clear: () => rmSync(file, { force: true }),
  };
}

/** Forgets the sessions that nobody came back to. */
export function pruneShown(home: string, now: number): void {
  const folder = join(home, "hooks", "claude-code");
  for (const name of namesIn(folder)) {
    const stat = statSync(join(folder, name), { throwIfNoEntry: false });
    if (stat && stat.mtimeMs < now - keptMs) rmSync(join(folder, name), { force: true });
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

function read(file: string): string[] {
  try {
    const parsed = stateSchema.safeParse(JSON.parse(readFileSync(file, "utf8")));
    return parsed.success ? parsed.data.shown : [];
  } catch (error) {
    // Showing something once more is better than not answering.
    if (isAbsent(error) || error instanceof SyntaxError) return [];
    throw error;
  }
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
