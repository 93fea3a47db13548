import { createHash } from "node:crypto";
import type { Entry } from "../../domain/index.ts";
import type { Session, Varve } from "../../index.ts";
import { type HookState, readState, writeState } from "./state.ts";

/** Returns the sequence number of the last entry that Claude Code's own compaction removed from its context. */
export async function findCompactedSeq(varve: Varve, session: Session, state: HookState): Promise<number | undefined> {
  const summary = (await listClaudeCompactions(varve, session))[0]?.seq;
  // The summary itself is in the context.
  const known = [summary === undefined ? undefined : summary - 1, state.leftAt].filter((seq) => seq !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

/** Records a compaction before the transcript contains it: all entries stored by now have left the context. */
export async function recordCompaction(
  varve: Varve,
  session: Session,
  facts: { forgetShown?: boolean; summary?: string },
): Promise<void> {
  const { home } = varve.settings;
  const state = readState(home, session.sessionId);
  const [newest] = (await varve.transcripts.read(session, { limit: 1 })).entries;
  writeState(home, session.sessionId, {
    createOutput: facts.forgetShown ? [] : state.createOutput,
    ...(newest === undefined ? {} : { leftAt: newest.seq }),
    ...(facts.summary === undefined || facts.summary === "" ? {} : { summary: facts.summary }),
  });
}

/** Stores the summary of a compaction that the transcript does not contain, for example because Claude Code exited. */
export async function storeSummary(varve: Varve, session: Session): Promise<void> {
  const { home } = varve.settings;
  const { summary, ...state } = readState(home, session.sessionId);
  if (summary === undefined) return;
  const [newest] = await listClaudeCompactions(varve, session);
  if (newest === undefined || newest.seq <= (state.leftAt ?? 0)) {
    const id = `compact-summary-${createHash("sha256").update(summary).digest("hex").slice(0, 24)}`;
    const entry = { type: "compaction", id, summary, firstKeptId: null, extra: { isCompactSummary: true } } as const;
    await varve.transcripts.append(session, [entry]);
  }
  writeState(home, session.sessionId, state);
}

/** Lists the compactions of Claude Code, newest first, without those of Varve. */
async function listClaudeCompactions(varve: Varve, session: Session): Promise<Entry[]> {
  const compactions = await varve.transcripts.compactions(session);
  return compactions.filter((entry) => entry.extra?.isCompactSummary === true);
}
