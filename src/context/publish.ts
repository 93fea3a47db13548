import type { Clock } from "../domain/index.ts";
import type { Store } from "../store/index.ts";
import { type ConversationRef, type StoredSummary, type SummarySource, writeSummary } from "./dag.ts";
import { type Frontier, writeFrontier } from "./frontier.ts";

/**
 * Puts one summary in place of a run of items, in one short transaction. The state must still be the one the plan was
 * made on: false means that somebody else changed it, and nothing was written.
 */
export async function publish(
  store: Store,
  clock: Clock,
  ref: ConversationRef,
  frontier: Frontier,
  made: { node: StoredSummary; sources: SummarySource[]; summaries: StoredSummary[] },
): Promise<boolean> {
  return store.transaction(async (tx) => {
    await tx.lock(`context ${ref.agent} ${ref.conversation}`);
    if (!(await writeFrontier(tx.db, ref, made.summaries, frontier.version, clock.now()))) return false;
    await writeSummary(tx.db, ref.agent, made.node, made.sources);
    return true;
  });
}
