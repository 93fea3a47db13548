import { sql } from "kysely";
import type { Store } from "../../store/index.ts";
import type { ConversationRef } from "../dag.ts";
import { type Frontier, loadFrontier } from "../frontier.ts";
import { afterBoundary, measureContext } from "../measure.ts";
import type { SessionBoundary } from "../session-boundary.ts";
import { newestRaw } from "../window.ts";
import { freshTail, thresholdReached } from "./plan.ts";
import type { CompactionPolicy } from "./policy.ts";

export interface CompactionTriggerOptions {
  policy: CompactionPolicy;
  windowTokens: number;
  /** The tokens that the provider counted for the last prompt, and the estimate for it, if known. */
  observedTokens?: number;
  estimatedTokens?: number;
  boundary?: SessionBoundary;
  timeZone?: string;
}

/** The work that a context needs: nothing, one leaf with its condensation, or a full sweep. */
export interface CompactionTrigger {
  work: "none" | "leaf" | "sweep";
  /** The tokens of the coarsest cut and the messages after it. */
  tokens: number;
}

/** Reads sums and the tail only: the cost does not depend on the length of the conversation. */
export async function findCompactionTrigger(
  store: Store,
  ref: ConversationRef,
  options: CompactionTriggerOptions,
): Promise<CompactionTrigger> {
  const { boundary, timeZone } = options;
  const frontier = await loadFrontier(store, ref, { boundary });
  const { messageTokensMax } = options.policy;
  const size = await measureContext(store, ref, frontier, { boundary, messageTokensMax, timeZone });
  const stored = size.tokens;
  const { observedTokens = 0, estimatedTokens } = options;
  // A view uses the room it has, so its size says nothing; but it tells how far the estimates are off.
  const tokens =
    estimatedTokens === undefined
      ? Math.max(stored, observedTokens)
      : Math.ceil(stored * Math.max(1, observedTokens / Math.max(1, estimatedTokens)));
  if (thresholdReached(tokens, options.windowTokens, options.policy)) return { work: "sweep", tokens };
  const outside = size.rawTokens - (await tailTokens(store, ref, afterBoundary(frontier, boundary), options.policy));
  return { work: outside >= options.policy.leafChunkTokens ? "leaf" : "none", tokens };
}

async function tailTokens(
  store: Store,
  ref: ConversationRef,
  frontier: Frontier,
  policy: CompactionPolicy,
): Promise<number> {
  const newest = await newestRaw(store, ref, frontier, Math.min(policy.freshTailCount, 1000) + 16);
  const items = newest.map((one) => one.item);
  return items.slice(freshTail(items, policy)).reduce((sum, item) => sum + item.tokens, 0);
}

/** The stored size of the messages that no summary covers, in bytes. */
export async function activeBytes(store: Store, ref: ConversationRef): Promise<number> {
  const frontier = await loadFrontier(store, ref);
  let bytes = 0;
  for (const segment of frontier.path) {
    if (segment.upTo <= frontier.coveredSeq) continue;
    const found = await sql<{ bytes: number }>`select coalesce(sum(length(payload)), 0) as bytes from entries
      where agent = ${ref.agent} and conversation = ${segment.conversation} and branch = ${segment.branch}
        and seq <= ${segment.upTo} and seq > ${frontier.coveredSeq}`.execute(store.db);
    bytes += Number(found.rows[0]?.bytes ?? 0);
  }
  return bytes;
}
