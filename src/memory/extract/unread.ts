import type { Entry } from "../../domain/index.ts";
import { type Db, prepareQuery, type Store, type Tx } from "../../store/index.ts";
import { headQuery, readAfter, readPathFrom, transcriptsQuery } from "../../transcript/index.ts";

export interface ConversationRef {
  agent: string;
  conversation: number;
}

/** A part of a conversation that memories were not extracted from yet. */
export interface UnreadBatch {
  /** The cursor on reading; it must be unchanged when the batch is written. */
  from: number;
  to: number;
  entries: Entry[];
  /** Whether more unread entries follow. */
  more: boolean;
}

const pageEntries = 40;
const bytesMax = 60_000;

/** The next entries after the cursor of a conversation, or after an entry. Entries that a fork inherits belong to its origin. */
export async function readUnreadBatch(store: Store, ref: ConversationRef, after?: number): Promise<UnreadBatch> {
  const { db } = store;
  const [[place], [cursor], ids] = await store.readBatch([
    headQuery(db, ref),
    cursorQuery(db, ref),
    transcriptsQuery(db, ref),
  ]);
  const path = await readPathFrom(store, ref, place);
  const inherited = Math.max(0, ...path.filter((one) => one.conversation !== ref.conversation).map((one) => one.upTo));
  const from = after ?? cursor?.seq ?? inherited;
  const page = await readAfter(store, ref.agent, path, {
    after: from,
    limit: pageEntries + 1,
    // Inherited entries may belong to other transcripts.
    ...(path.length > 1 ? {} : { sessions: new Map(ids.map((row) => [row.id, row.session_id])) }),
  });
  const entries: Entry[] = [];
  let size = 0;
  for (const entry of page.slice(0, pageEntries)) {
    size += entry.tokens * 4;
    if (entries.length > 0 && size > bytesMax) break;
    entries.push(entry);
  }
  return { from, to: entries.at(-1)?.seq ?? from, entries, more: entries.length < page.length };
}

/** Whether a conversation has messages after its cursor. */
export async function hasUnreadMessages(store: Store, ref: ConversationRef): Promise<boolean> {
  const row = await store.db
    .selectFrom("entries")
    .select("seq")
    .where("agent", "=", ref.agent)
    .where("conversation", "=", ref.conversation)
    .where("seq", ">", (await cursorQuery(store.db, ref).executeTakeFirst())?.seq ?? 0)
    .where("kind", "in", ["user", "assistant"])
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

function cursorQuery(db: Db, ref: ConversationRef) {
  return db
    .selectFrom("memory_cursors")
    .select("seq")
    .where("agent", "=", ref.agent)
    .where("conversation", "=", ref.conversation);
}

/** The extraction cursor of a conversation, as a prepared query that callers can batch. */
export const extractionCursorQuery = prepareQuery(cursorQuery);

/** Moves the cursor, unless another worker has moved it. */
export function moveCursor(
  db: Db | Tx,
  { agent, conversation }: ConversationRef,
  { from, to }: Pick<UnreadBatch, "from" | "to">,
  now: number,
) {
  return db
    .insertInto("memory_cursors")
    .values({ agent, conversation, seq: to, updated_at: now })
    .onConflict((conflict) =>
      conflict
        .columns(["agent", "conversation"])
        .doUpdateSet({ seq: to, updated_at: now })
        .where("memory_cursors.seq", "=", from),
    )
    .returning("seq");
}
