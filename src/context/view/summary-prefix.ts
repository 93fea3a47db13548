import type { Store } from "../../store/index.ts";
import type { ConversationRef } from "../dag.ts";
import { loadFrontier } from "../frontier.ts";
import { renderSummaries } from "./assemble.ts";
import { systemPromptAddition } from "./render-summaries.ts";

/** The summaries of the older part of a conversation, for callers that keep the newer part themselves. */
export interface SummaryPrefix {
  /** The summaries in order, each as the text of a user message. */
  summaries: { id: string; text: string }[];
  /** The id of the last entry they cover; undefined when there are none. */
  coveredId?: string;
  systemPromptAddition?: string;
}

export async function loadSummaryPrefix(store: Store, ref: ConversationRef): Promise<SummaryPrefix> {
  const { summaries, coveredSeq } = await loadFrontier(store, ref);
  if (summaries.length === 0) return { summaries: [] };
  const xml = await renderSummaries(store, ref, summaries);
  const covered = await store.db
    .selectFrom("entries")
    .select("id")
    .where("agent", "=", ref.agent)
    .where("seq", "=", coveredSeq)
    .executeTakeFirst();
  const addition = systemPromptAddition(summaries);
  return {
    summaries: summaries.map(({ id }) => ({ id, text: xml.get(id) ?? "" })),
    ...(covered === undefined ? {} : { coveredId: covered.id }),
    ...(addition === undefined ? {} : { systemPromptAddition: addition }),
  };
}
