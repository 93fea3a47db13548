import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { writeAtomically } from "../../config/index.ts";

const stateSchema = z.object({
  /** What hooks put into the context that is still there, by citation. */
  shown: z.array(z.string()),
  /** The newest entry that was stored when the context was last compacted: it left the context, and all before it. */
  leftAt: z.number().optional(),
  /** The summary of that compaction, until the transcript holds it. */
  summary: z.string().optional(),
});
export type HookState = z.output<typeof stateSchema>;

const shownMax = 500;
/** Claude Code itself deletes transcripts after so long. */
const keptMs = 30 * 24 * 3_600_000;

/**
 * What hooks have to know of a session from one event to the next. It is a small file for each session: a hook is a
 * process of its own, and at the first prompt of a session the store knows nothing of it yet.
 */
export function readState(home: string, sessionId: string): HookState {
  try {
    const parsed = stateSchema.safeParse(JSON.parse(readFileSync(fileOf(home, sessionId), "utf8")));
    return parsed.success ? parsed.data : { shown: [] };
  } catch (error) {
    // Showing something once more is better than not answering.
    if (isAbsent(error) || error instanceof SyntaxError) return { shown: [] };
    throw error;
  }
}

export function writeState(home: string, sessionId: string, state: HookState): void {
  writeAtomically(fileOf(home, sessionId), JSON.stringify({ ...state, shown: state.shown.slice(-shownMax) }));
}

/** Forgets the sessions that nobody came back to. */
export function pruneStates(home: string, now: number): void {
  for (const name of namesIn(folderOf(home))) {
    const file = join(folderOf(home), name);
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat && stat.mtimeMs < now - keptMs) rmSync(file, { force: true });
  }
}

function folderOf(home: string): string {
  return join(home, "hooks", "claude-code");
}

function fileOf(home: string, sessionId: string): string {
  return join(folderOf(home), `${sessionId}.json`);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
