import type { Entry } from "../../domain/index.ts";
import { type Db, prepareQuery, type Store, type Tx } from "../../store/index.ts";
import { headQuery, readAfter, readPathFrom, transcriptsQuery } from "../../transcript/index.ts";

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
  const { db } = store;
  const [[place], [cursor], ids] = await store.readBatch([
    headQuery(db, ref),
    cursorQuery(db, ref),
    transcriptsQuery(db, ref),
  ]);
  const path = await readPathFrom(store, ref, place);
  const inherited = Math.max(0, ...path.filter((one) => one.conversation !== ref.conversation).map((one) => one.upTo));
  const from = cursor?.seq ?? inherited;
  const page = await readAfter(store, ref.agent, path, {
    after: from,
    limit: pageEntries + 1,
    // What a fork inherits may be of other transcripts.
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

/** Whether anything was said behind the cursor of a conversation. */
export async function hasUnseen(store: Store, ref: ConversationRef): Promise<boolean> {
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

/** Up to where a conversation was read for memories, for whoever reads more with it. */
export const extractionCursorQuery = prepareQuery(cursorQuery);

/** Moves the cursor; it changes nothing when another one has moved it meanwhile. */
export function cursorMove(
  db: Db | Tx,
  { agent, conversation }: ConversationRef,
  { from, to }: Pick<Unseen, "from" | "to">,
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
