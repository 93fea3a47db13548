import { sql } from "kysely";
import type { Store } from "../../store/index.ts";
import type { ConversationRef } from "../dag.ts";
import { type Frontier, loadFrontier } from "../frontier.ts";
import { newestRaw, rawTokens } from "../window.ts";
import { freshTail, thresholdReached } from "./plan.ts";
import type { CompactionPolicy } from "./policy.ts";
import { summaryTokens } from "./sweep.ts";

export interface CompactionTriggerOptions {
  policy: CompactionPolicy;
  windowTokens: number;
  /** What the provider counted for the last prompt, where it is known. */
  observedTokens?: number;
}

/** What has to be done about a context: nothing, one leaf and what follows from it, or a full sweep. */
export interface CompactionTrigger {
  work: "none" | "leaf" | "sweep";
  /** The larger of what is stored and what was observed. */
  tokens: number;
}

/** Looks at sums and at the tail only, so that it costs the same however long the conversation is. */
export async function findCompactionTrigger(
  store: Store,
  ref: ConversationRef,
  options: CompactionTriggerOptions,
): Promise<CompactionTrigger> {
  const frontier = await loadFrontier(store, ref);
  const raw = await rawTokens(store, ref, frontier);
  const tokens = Math.max(summaryTokens(frontier) + raw, options.observedTokens ?? 0);
  if (thresholdReached(tokens, options.windowTokens, options.policy)) return { work: "sweep", tokens };
  const outside = raw - (await tailTokens(store, ref, frontier, options.policy));
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

/** The stored size of what is in the context message by message, in bytes. */
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
