import type { ConversationSpan, Store } from "../store/index.ts";

const forksMax = 100;

/** A conversation and what it was forked from, each up to where the fork left it. */
export async function listConversationSpans(
  store: Store,
  agent: string,
  conversation: number,
): Promise<ConversationSpan[]> {
  const spans: ConversationSpan[] = [{ conversation }];
  let at = conversation;
  for (let depth = 0; depth < forksMax; depth += 1) {
    const first = await store.db
      .selectFrom("branches")
      .select(["parent_conversation", "fork_seq"])
      .where("agent", "=", agent)
      .where("conversation", "=", at)
      .where("branch", "=", 1)
      .executeTakeFirst();
    const parent = first?.parent_conversation ?? null;
    if (parent === null || parent === at || first?.fork_seq == null) break;
    const upTo = Math.min(first.fork_seq, spans.at(-1)?.upTo ?? first.fork_seq);
    spans.push({ conversation: parent, upTo });
    at = parent;
  }
  return spans;
}

/** Whether an entry lies in one of the spans; without spans, everything does. */
export function inSpans(
  spans: readonly ConversationSpan[] | undefined,
  entry: { conversation: number; seq: number },
): boolean {
  if (spans === undefined) return true;
  return spans.some((span) => span.conversation === entry.conversation && entry.seq <= (span.upTo ?? entry.seq));
}
