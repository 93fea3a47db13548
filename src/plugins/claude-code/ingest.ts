import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { VarveError } from "../../domain/index.ts";
import type { Session, Varve } from "../../engine.ts";
import type { HookInput } from "./hook-input.ts";

/** Imports of one file wait for each other: Stop and SessionEnd come close together. */
const lanes = new Map<string, Promise<unknown>>();

/** Reads what is new in the transcripts that a hook names. What the file does not hold yet is read at the next event. */
export async function ingest(varve: Varve, input: HookInput, agent: string | undefined): Promise<void> {
  let imported = 0;
  for (const path of [input.transcript_path, input.agent_transcript_path]) {
    if (path === undefined) continue;
    if (!isTranscript(path, input.session_id)) {
      throw new VarveError("REFUSED", `${path} is not where Claude Code keeps a transcript of this session.`);
    }
    // A sub-agent that compacts has no file, and a session that was just opened has none yet.
    if (!existsSync(path)) continue;
    const report = await inLane(path, () => varve.import([path], { source: "claude-code", agent }));
    imported += report.imported;
  }
  if (imported === 0) return;
  const session = await sessionOf(varve, input.session_id, agent);
  if (session) await varve.context.afterTurn(session);
}

/** Whoever may call a hook may have files read by it: only files named as transcripts of the session are. */
export function isTranscript(path: string, sessionId: string): boolean {
  if (!isAbsolute(path) || path.split(/[\\/]/).includes("..")) return false;
  const parts = path.split(/[\\/]/);
  const name = parts.at(-1) ?? "";
  if (name === `${sessionId}.jsonl`) return parts.at(-3) === "projects";
  const [projects, , session, folder] = parts.slice(-5);
  return (
    projects === "projects" && session === sessionId && folder === "subagents" && /^agent-[\w-]+\.jsonl$/.test(name)
  );
}

/** The session of Claude Code in the store; undefined while nothing of it was read. */
export async function sessionOf(
  varve: Varve,
  sessionId: string,
  agent: string | undefined,
): Promise<Session | undefined> {
  try {
    return await varve.sessions.get(sessionId, agent);
  } catch (error) {
    if (error instanceof VarveError && error.code === "SESSION_NOT_FOUND") return undefined;
    throw error;
  }
}

async function inLane<T>(path: string, work: () => Promise<T>): Promise<T> {
  const before = lanes.get(path) ?? Promise.resolve();
  const done = before.then(work, work);
  lanes.set(path, done);
  try {
    return await done;
  } finally {
    if (lanes.get(path) === done) lanes.delete(path);
  }
}
