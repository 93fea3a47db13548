import type { Store } from "../../store/index.ts";
import type { ConversationRef } from "../dag.ts";
import { loadFrontier } from "../frontier.ts";
import { isRetained, type SessionBoundary } from "../session-boundary.ts";
import { systemPromptAddition } from "./render-summaries.ts";
import { chooseCut } from "./summary-cut.ts";

/** The summaries of the older part of a conversation, for callers that keep the newer part themselves. */
export interface SummaryPrefix {
  /** The summaries in order, each as the text of a user message. */
  summaries: { id: string; text: string }[];
  /** The id of the last entry they cover; undefined when there are none. */
  coveredId?: string;
  systemPromptAddition?: string;
}

export interface SummaryPrefixOptions {
  /** The tokens that the summaries may take: with more room they say more. Without it, the coarsest cut is returned. */
  budgetTokens?: number;
  timeZone?: string;
  /** The session of the caller: only what its context retains of earlier sessions is returned. */
  boundary?: SessionBoundary;
}

export async function loadSummaryPrefix(
  store: Store,
  ref: ConversationRef,
  { budgetTokens, timeZone, boundary }: SummaryPrefixOptions = {},
): Promise<SummaryPrefix> {
  const { summaries: all, coveredSeq } = await loadFrontier(store, ref, { boundary });
  const summaries = all.filter((one) => isRetained(one, boundary));
  if (summaries.length === 0) return { summaries: [] };
  const coarsest = summaries.reduce((sum, { tokens }) => sum + tokens, 0);
  const items = await chooseCut(store, ref, summaries, {
    tokens: budgetTokens ?? 3 * coarsest + 1_000,
    timeZone,
    openFrom: budgetTokens === undefined ? Number.MAX_SAFE_INTEGER : boundary?.seq,
  });
  const covered = await store.db
    .selectFrom("entries")
    .select("id")
    .where("agent", "=", ref.agent)
    .where("seq", "=", coveredSeq)
    .executeTakeFirst();
  const addition = systemPromptAddition(summaries);
  return {
    summaries: items.map(({ summaries: [first], text }) => ({ id: first?.id ?? "", text })),
    ...(covered === undefined ? {} : { coveredId: covered.id }),
    ...(addition === undefined ? {} : { systemPromptAddition: addition }),
  };
}
