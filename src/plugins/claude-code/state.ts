import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { writeAtomically } from "../../config/index.ts";

const stateSchema = z.object({
  /** The citations that hooks added to the context and that are still in it. */
  createOutput: z.array(z.string()),
  /** The newest entry at the last compaction: it and all entries before it have left the context. */
  leftAt: z.number().optional(),
  /** The summary of that compaction, until the transcript contains it. */
  summary: z.string().optional(),
});
export type HookState = z.output<typeof stateSchema>;

const shownMax = 500;
/** Claude Code deletes its transcripts after this time. */
const stateAgeMsMax = 30 * 24 * 3_600_000;

/**
 * Reads a session's state between two hook events. It is a file and not in the store, because a hook is a process of its
 * own and the store has no session before the first import.
 */
export function readState(home: string, sessionId: string): HookState {
  try {
    const parsed = stateSchema.safeParse(JSON.parse(readFileSync(getStateFile(home, sessionId), "utf8")));
    return parsed.success ? parsed.data : { createOutput: [] };
  } catch (error) {
    // Without a state, something may be shown twice, which is better than no answer.
    if (isMissingFile(error) || error instanceof SyntaxError) return { createOutput: [] };
    throw error;
  }
}

export function writeState(home: string, sessionId: string, state: HookState): void {
  writeAtomically(
    getStateFile(home, sessionId),
    JSON.stringify({ ...state, shown: state.createOutput.slice(-shownMax) }),
  );
}

/** Removes the states of old sessions. */
export function pruneStates(home: string, now: number): void {
  for (const name of listFiles(getStateFolder(home))) {
    const file = join(getStateFolder(home), name);
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat && stat.mtimeMs < now - stateAgeMsMax) rmSync(file, { force: true });
  }
}

function getStateFolder(home: string): string {
  return join(home, "hooks", "claude-code");
}

function getStateFile(home: string, sessionId: string): string {
  return join(getStateFolder(home), `${sessionId}.json`);
}

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isMissingFile(error)) return [];
    throw error;
  }
}

function isMissingFile(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
