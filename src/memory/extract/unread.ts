import type { Entry } from "../../domain/index.ts";
import { type Db, prepareQuery, type Store, type Tx } from "../../store/index.ts";
import { headQuery, readAfter, readPathFrom, readTail, transcriptsQuery } from "../../transcript/index.ts";

export interface ConversationRef {
  agent: string;
  conversation: number;
}

/**
 * How far a conversation was read for memories: up to `seq`, except for a backlog of older messages before
 * `unreadBefore`. A backlog is read from its newest message backwards.
 */
export interface ExtractionCursor {
  seq: number;
  unreadBefore: number | null;
}

/** A part of a conversation that memories were not extracted from yet. */
export interface UnreadBatch {
  /** The cursor on reading, undefined without one; it must be unchanged when the batch is written. */
  from: ExtractionCursor | undefined;
  to: ExtractionCursor;
  /** Oldest first. */
  entries: Entry[];
  /** Whether the entries belong to the backlog: history that was imported or written before extraction was on. */
  isBacklog: boolean;
  /** Whether more unread entries remain. */
  more: boolean;
}

const pageEntries = 40;
const bytesMax = 60_000;

export interface UnreadOptions {
  /** Read a conversation that was never read as a backlog, even a short one. */
  asBacklog?: boolean;
  /** Reads on from here instead of from the stored cursor; for previews. */
  at?: ExtractionCursor;
}

/**
 * The next entries to extract from: new ones first, then the backlog. A long conversation that was never read is a
 * backlog. Entries that a fork inherits belong to its origin.
 */
export async function readUnreadBatch(
  store: Store,
  ref: ConversationRef,
  { asBacklog = false, at }: UnreadOptions = {},
): Promise<UnreadBatch> {
  const { db } = store;
  const [[place], [stored], ids] = await store.readBatch([
    headQuery(db, ref),
    cursorQuery(db, ref),
    transcriptsQuery(db, ref),
  ]);
  const path = await readPathFrom(store, ref, place);
  const inherited = Math.max(0, ...path.filter((one) => one.conversation !== ref.conversation).map((one) => one.upTo));
  const known = stored && { seq: stored.seq, unreadBefore: stored.unread_before };
  const readForward = (after: number) =>
    readAfter(store, ref.agent, path, {
      after,
      limit: pageEntries + 1,
      // Inherited entries may belong to other transcripts.
      ...(path.length > 1 ? {} : { sessions: new Map(ids.map((row) => [row.id, row.session_id])) }),
    });

  let cursor = at ?? known ?? { seq: inherited, unreadBefore: null };
  let page = await readForward(cursor.seq);
  const isFirst = at === undefined && known === undefined;
  if (isFirst && page.length > 0 && (asBacklog || page.length > pageEntries)) {
    const head = place?.head_seq ?? inherited;
    cursor = { seq: head, unreadBefore: head + 1 };
    page = [];
  }
  if (page.length > 0) {
    const entries = limitBytes(page.slice(0, pageEntries));
    const to = { ...cursor, seq: entries.at(-1)?.seq ?? cursor.seq };
    const more = entries.length < page.length || cursor.unreadBefore !== null;
    return { from: known, to, entries, isBacklog: false, more };
  }
  if (cursor.unreadBefore === null) return { from: known, to: cursor, entries: [], isBacklog: false, more: false };
  return { from: known, ...(await readBacklog(store, ref, cursor, cursor.unreadBefore, inherited)) };
}

async function readBacklog(
  store: Store,
  ref: ConversationRef,
  cursor: ExtractionCursor,
  before: number,
  inherited: number,
): Promise<Omit<UnreadBatch, "from">> {
  const page = await readTail(store, ref, { limit: pageEntries, before });
  const own = page.entries.filter((entry) => entry.seq > inherited);
  const entries = limitBytes(own.toReversed()).reverse();
  const isAll = entries.length === own.length && (page.before === undefined || own.length < page.entries.length);
  const first = entries[0]?.seq;
  const unreadBefore = isAll || first === undefined ? null : first;
  return { to: { ...cursor, unreadBefore }, entries, isBacklog: true, more: unreadBefore !== null };
}

/** The first entries of a page, up to a size, and at least one. */
function limitBytes(page: readonly Entry[]): Entry[] {
  const entries: Entry[] = [];
  let size = 0;
  for (const entry of page) {
    size += entry.tokens * 4;
    if (entries.length > 0 && size > bytesMax) break;
    entries.push(entry);
  }
  return entries;
}

/** Whether a conversation has messages that were not read. */
export async function hasUnreadMessages(store: Store, ref: ConversationRef): Promise<boolean> {
  const cursor = await cursorQuery(store.db, ref).executeTakeFirst();
  if (cursor?.unread_before != null) return true;
  const row = await store.db
    .selectFrom("entries")
    .select("seq")
    .where("agent", "=", ref.agent)
    .where("conversation", "=", ref.conversation)
    .where("seq", ">", cursor?.seq ?? 0)
    .where("kind", "in", ["user", "assistant"])
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

function cursorQuery(db: Db, ref: ConversationRef) {
  return db
    .selectFrom("memory_cursors")
    .select(["seq", "unread_before"])
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
  const next = { seq: to.seq, unread_before: to.unreadBefore, updated_at: now };
  return db
    .insertInto("memory_cursors")
    .values({ agent, conversation, ...next })
    .onConflict((conflict) =>
      conflict
        .columns(["agent", "conversation"])
        .doUpdateSet(next)
        // Without a known cursor another worker has written one in the meantime.
        .where("memory_cursors.seq", "=", from?.seq ?? -1)
        .where("memory_cursors.unread_before", from?.unreadBefore == null ? "is" : "=", from?.unreadBefore ?? null),
    )
    .returning("seq");
}

export interface ExtractionBacklog {
  conversations: number;
  /** Messages of users and assistants that were not read yet. */
  messages: number;
}

/** How much history of an agent waits for extraction. */
export async function countBacklog({ db }: Store, agent: string): Promise<ExtractionBacklog> {
  const rows = await db
    .selectFrom("memory_cursors as c")
    .innerJoin("entries as e", (join) =>
      join.onRef("e.agent", "=", "c.agent").onRef("e.conversation", "=", "c.conversation"),
    )
    .select((eb) => [
      eb.fn.count<number>("c.conversation").distinct().as("conversations"),
      eb.fn.countAll<number>().as("messages"),
    ])
    .where("c.agent", "=", agent)
    .where("c.unread_before", "is not", null)
    .whereRef("e.seq", "<", "c.unread_before")
    .where("e.kind", "in", ["user", "assistant"])
    .executeTakeFirst();
  return { conversations: Number(rows?.conversations ?? 0), messages: Number(rows?.messages ?? 0) };
}
