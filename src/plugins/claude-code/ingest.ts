import { lstatSync, realpathSync } from "node:fs";
import { isAbsolute } from "node:path";
import { VarveError } from "../../domain/index.ts";
import type { Varve } from "../../index.ts";
import { findSession } from "../find-session.ts";
import type { HookInput } from "./hook-input.ts";

/** Imports of one file run one after another: Stop and SessionEnd may arrive at the same time. */
const queues = new Map<string, Promise<unknown>>();

/** Imports the new entries of the transcripts that a hook names. Entries that are written later are imported at the next event. */
export async function importTranscripts(varve: Varve, input: HookInput, agent: string | undefined): Promise<void> {
  let imported = 0;
  for (const path of [input.transcript_path, input.agent_transcript_path]) {
    if (path === undefined) continue;
    const stat = isTranscript(path, input.session_id) ? lstatSync(path, { throwIfNoEntry: false }) : "elsewhere";
    // A sub-agent that compacts has no file, and a new session has none yet.
    if (stat === undefined) continue;
    // A link or a pipe with the right name could make the gateway read another file, or wait for ever.
    if (stat === "elsewhere" || !stat.isFile() || !isTranscript(realpathSync(path), input.session_id)) {
      throw new VarveError("REFUSED", `${path} is not a transcript of this session.`, {
        remedy: "Hooks read only the transcripts that Claude Code keeps for their session, and follow no links.",
      });
    }
    const report = await runInTurn(path, () => varve.import([path], { source: "claude-code", agent }));
    imported += report.imported;
  }
  if (imported === 0) return;
  const session = await findSession(varve, input.session_id, agent);
  if (session) await varve.context.afterTurn(session);
}

/** Limits the files that a caller of the hook can have read to transcripts of the session. */
function isTranscript(path: string, sessionId: string): boolean {
  if (!isAbsolute(path) || path.split(/[\\/]/).includes("..")) return false;
  const parts = path.split(/[\\/]/);
  const name = parts.at(-1) ?? "";
  if (name === `${sessionId}.jsonl`) return parts.at(-3) === "projects";
  const [projects, , session, folder] = parts.slice(-5);
  return (
    projects === "projects" && session === sessionId && folder === "subagents" && /^agent-[\w-]+\.jsonl$/.test(name)
  );
}

async function runInTurn<T>(path: string, work: () => Promise<T>): Promise<T> {
  const before = queues.get(path) ?? Promise.resolve();
  const done = before.then(work, work);
  queues.set(path, done);
  try {
    return await done;
  } finally {
    if (queues.get(path) === done) queues.delete(path);
  }
}
