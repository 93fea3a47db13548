import type { Store } from "../../store/index.ts";

/** The layers of a conversation as a few numbers, for lists. */
export interface TinyCore {
  key: string;
  /** The summaries of the context, oldest first: depth (1 for a leaf) and the messages each stands for. */
  summaries: { depth: number; messages: number }[];
  /** The messages after the summaries. */
  tail: number;
}

/** The cores of several sessions, as the last compaction of each left them, in two queries. */
export async function readTinyCores(store: Store, agent: string, keys: readonly string[]): Promise<TinyCore[]> {
  if (keys.length === 0) return [];
  const sessions = await store.db
    .selectFrom("sessions")
    .innerJoin("conversations", (join) =>
      join.onRef("conversations.agent", "=", "sessions.agent").onRef("conversations.id", "=", "sessions.conversation"),
    )
    .select(["sessions.key", "sessions.conversation", "conversations.message_count"])
    .where("sessions.agent", "=", agent)
    .where("sessions.key", "in", keys)
    .execute();
  const conversations = [...new Set(sessions.map((row) => row.conversation))];
  const items =
    conversations.length === 0
      ? []
      : await store.db
          .selectFrom("context_items")
          .innerJoin("summaries", (join) =>
            join
              .onRef("summaries.agent", "=", "context_items.agent")
              .onRef("summaries.id", "=", "context_items.summary"),
          )
          .select(["context_items.conversation", "summaries.depth", "summaries.source_message_count"])
          .where("context_items.agent", "=", agent)
          .where("context_items.conversation", "in", conversations)
          .orderBy("context_items.conversation")
          .orderBy("context_items.position")
          .execute();
  const summaries = Map.groupBy(items, (row) => row.conversation);
  const byKey = new Map(
    sessions.map((row) => {
      const own = (summaries.get(row.conversation) ?? []).map((item) => ({
        depth: item.depth + 1,
        messages: item.source_message_count,
      }));
      const covered = own.reduce((sum, one) => sum + one.messages, 0);
      return [row.key, { key: row.key, summaries: own, tail: Math.max(0, row.message_count - covered) }];
    }),
  );
  return keys.flatMap((key) => byKey.get(key) ?? []);
}
