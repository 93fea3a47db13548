import type { Entry } from "../../domain/index.ts";
import type { Store, StoreTransaction } from "../../store/index.ts";
import { activePath, readAfter } from "../../transcript/index.ts";

export interface ConversationRef {
  agent: string;
  conversation: number;
}

/** A stretch of a conversation that was not read for memories yet. */
export interface Unseen {
  /** What the cursor must still be when the batch is written. */
  from: number;
  to: number;
  entries: Entry[];
  /** Whether there is more behind it. */
  more: boolean;
}

const pageEntries = 40;
const bytesMax = 60_000;

/** The next entries behind the cursor of a conversation. What a fork inherits was read in its origin. */
export async function readUnseen(store: Store, ref: ConversationRef): Promise<Unseen> {
  const path = await activePath(store, ref);
  const inherited = Math.max(0, ...path.filter((one) => one.conversation !== ref.conversation).map((one) => one.upTo));
  const from = (await cursorOf(store, ref)) ?? inherited;
  const page = await readAfter(store, ref.agent, path, { after: from, limit: pageEntries + 1 });
  const entries: Entry[] = [];
  let size = 0;
  for (const entry of page.slice(0, pageEntries)) {
    size += entry.tokens * 4;
    if (entries.length > 0 && size > bytesMax) break;
    entries.push(entry);
  }
  return { from, to: entries.at(-1)?.seq ?? from, entries, more: entries.length < page.length };
}

/** Whether anything was said behind the cursor of a conversation. */
export async function hasUnseen(store: Store, ref: ConversationRef): Promise<boolean> {
  const row = await store.db
    .selectFrom("entries")
    .select("seq")
    .where("agent", "=", ref.agent)
    .where("conversation", "=", ref.conversation)
    .where("seq", ">", (await cursorOf(store, ref)) ?? 0)
    .where("kind", "in", ["user", "assistant"])
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

async function cursorOf(store: Pick<Store, "db"> | Pick<StoreTransaction, "db">, ref: ConversationRef) {
  const row = await store.db
    .selectFrom("memory_cursors")
    .select("seq")
    .where("agent", "=", ref.agent)
    .where("conversation", "=", ref.conversation)
    .executeTakeFirst();
  return row?.seq;
}

/** Moves the cursor, inside the transaction of a batch; false when another one has moved it meanwhile. */
export async function moveCursor(
  tx: StoreTransaction,
  ref: ConversationRef,
  { from, to }: Pick<Unseen, "from" | "to">,
  now: number,
): Promise<boolean> {
  await tx.lock(`memory cursor ${ref.agent} ${ref.conversation}`);
  const at = await cursorOf(tx, ref);
  if (at !== undefined && at !== from) return false;
  const next = { agent: ref.agent, conversation: ref.conversation, seq: to, updated_at: now };
  await tx.db
    .insertInto("memory_cursors")
    .values(next)
    .onConflict((conflict) => conflict.columns(["agent", "conversation"]).doUpdateSet({ seq: to, updated_at: now }))
    .execute();
  return true;
}
