import { createHash } from "node:crypto";
import type { Entry } from "../../domain/index.ts";
import type { Session, Varve } from "../../engine.ts";
import { type HookState, readState, writeState } from "./state.ts";

/** The last entry that left the context of Claude Code by a compaction of its own, whichever side knows of it first. */
export async function leftAt(varve: Varve, session: Session, state: HookState): Promise<number | undefined> {
  const summary = (await ownCompactions(varve, session))[0]?.seq;
  // The summary itself is in the context.
  const known = [summary === undefined ? undefined : summary - 1, state.leftAt].filter((seq) => seq !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

/** A hook hears of a compaction before the transcript does: what is stored by then has left the context. */
export async function noteCompaction(
  varve: Varve,
  session: Session,
  facts: { forgetShown?: boolean; summary?: string },
): Promise<void> {
  const { home } = varve.settings;
  const state = readState(home, session.sessionId);
  const [newest] = (await varve.transcripts.read(session, { limit: 1 })).entries;
  writeState(home, session.sessionId, {
    shown: facts.forgetShown ? [] : state.shown,
    ...(newest === undefined ? {} : { leftAt: newest.seq }),
    ...(facts.summary === undefined || facts.summary === "" ? {} : { summary: facts.summary }),
  });
}

/** Keeps the summary of a compaction that the transcript never came to hold, as when Claude Code was ended in between. */
export async function settleSummary(varve: Varve, session: Session): Promise<void> {
  const { home } = varve.settings;
  const { summary, ...state } = readState(home, session.sessionId);
  if (summary === undefined) return;
  const [newest] = await ownCompactions(varve, session);
  if (newest === undefined || newest.seq <= (state.leftAt ?? 0)) {
    const id = `compact-summary-${createHash("sha256").update(summary).digest("hex").slice(0, 24)}`;
    const entry = { type: "compaction", id, summary, firstKeptId: null, extra: { isCompactSummary: true } } as const;
    await varve.transcripts.append(session, [entry]);
  }
  writeState(home, session.sessionId, state);
}

/** The newest first; Varve's own compactions of the same conversation are none of Claude Code's. */
async function ownCompactions(varve: Varve, session: Session): Promise<Entry[]> {
  const compactions = await varve.transcripts.compactions(session);
  return compactions.filter((entry) => entry.extra?.isCompactSummary === true);
}
