import type { Config } from "../config/index.ts";
import type { ReadParentView } from "../session/index.ts";
import type { Store } from "../store/index.ts";
import { findParentSegment, type Segment } from "../transcript/index.ts";
import { contextSettings } from "./context-settings.ts";
import { loadFrontier, stateQuery, writeFrontier } from "./frontier.ts";
import { measureContext } from "./measure.ts";
import { toBoundary } from "./session-boundary.ts";

/**
 * The view of a session at one of its entries, as a fork takes it over: the same summaries, the same boundary and the same
 * truncated tool results. Only the list of summaries is written; the summaries themselves stay where they are.
 */
export function createParentViewReader(store: Store, config: Config): ReadParentView {
  return async (parent, point, beginSeq) => {
    const { agent } = parent;
    const boundary = toBoundary(beginSeq, contextSettings(config, { session: parent }).newSessionRetainDepth);
    const path = await readPathTo(store, agent, { ...point, upTo: point.seq });
    const state = await stateQuery(store.db, parent).executeTakeFirst();
    const frontier = await loadFrontier(store, parent, { opening: { path, state }, boundary });
    const { tokens } = await measureContext(store, parent, frontier, { boundary, timeZone: config.timezone });
    return {
      tokens,
      async inherit(tx, child) {
        if (frontier.summaries.length === 0) return;
        await writeFrontier(tx.db, child, frontier.summaries, 0, store.clock.now());
        await tx.db
          .updateTable("context_states")
          .set({ pruned_seq: Math.min(frontier.prunedSeq, point.seq) })
          .where("agent", "=", child.agent)
          .where("conversation", "=", child.conversation)
          .execute();
      },
    };
  };
}

async function readPathTo(store: Store, agent: string, last: Segment): Promise<Segment[]> {
  const path: Segment[] = [last];
  for (let segment = await findParentSegment(store.db, agent, last); segment; ) {
    path.unshift(segment);
    segment = await findParentSegment(store.db, agent, segment);
  }
  return path;
}
