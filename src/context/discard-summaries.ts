import type { StoreTransaction } from "../store/index.ts";

/**
 * Removes every summary of some conversations, because some of their messages were erased. The messages are in the context
 * again, and the next compaction summarises what is left of them.
 */
export async function discardSummaries(
  { db }: StoreTransaction,
  agent: string,
  conversations: readonly number[],
): Promise<number> {
  if (conversations.length === 0) return 0;
  const { numDeletedRows } = await db
    .deleteFrom("summaries")
    .where("agent", "=", agent)
    .where("conversation", "in", conversations)
    .executeTakeFirstOrThrow();
  for (const table of ["summary_sources", "context_items"] as const) {
    await db.deleteFrom(table).where("agent", "=", agent).where("conversation", "in", conversations).execute();
  }
  await db
    .deleteFrom("document_vectors")
    .where("agent", "=", agent)
    .where("kind", "=", "summary")
    .where("conversation", "in", conversations)
    .execute();
  await db
    .updateTable("context_states")
    .set((eb) => ({ covered_seq: 0, pruned_seq: 0, version: eb("version", "+", 1) }))
    .where("agent", "=", agent)
    .where("conversation", "in", conversations)
    .execute();
  return Number(numDeletedRows);
}
