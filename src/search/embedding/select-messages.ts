import { sql } from "kysely";
import { roles } from "../../domain/index.ts";
import { isOfAgent, type Store } from "../../store/index.ts";
import type { SeqRange } from "./progress.ts";

/** A part of the log with at most this many entries is read as it is, those of other agents included. */
const shortRange = 5_000;
/** An agent with at most this many entries, in at most as many conversations, is small. */
const small = { entries: 20_000, conversations: 1_000 };

/**
 * How the messages of an agent in a part of the log are found: by that part, or among all entries of the agent. `none` when
 * that part of the log is known to be empty.
 */
export type MessagePath = "log" | "agent" | "none";

/**
 * Chooses the faster path to the messages after `after`. PostgreSQL has an index on both. SQLite reads the entries of all
 * agents that came since, unless they are many and the agent is small.
 */
export async function choosePath(store: Store, agent: string, after: number): Promise<MessagePath> {
  if (store.engine === "postgres") return "log";
  const counts = sql`select entry_count from conversations where agent = ${agent} limit ${small.conversations + 1}`;
  const found = await sql<{ newest: number | null; entries: number | null; conversations: number | null }>`
    select (select max(seq) from entries) as newest, sum(entry_count) as entries, count(*) as conversations
    from (${counts}) where (select max(seq) from entries) > ${after + shortRange}`.execute(store.db);
  const { newest, entries, conversations } = found.rows[0] ?? {};
  if ((newest ?? 0) <= after) return "none";
  const isSmall = (entries ?? 0) <= small.entries && (conversations ?? 0) <= small.conversations;
  return conversations && isSmall ? "agent" : "log";
}

/** The messages of an agent in a part of the log. */
export function selectMessagesIn(store: Store, agent: string, { after, upTo }: SeqRange, path: MessagePath) {
  const messages = store.db.selectFrom("entries").where("kind", "in", [...roles]);
  if (path !== "agent") {
    const inLog = messages.where("seq", ">", after).where("seq", "<=", upTo).where(isOfAgent(store, agent));
    // Without the end of the agent's log, PostgreSQL may read what all other agents wrote since.
    return store.engine === "sqlite"
      ? inLog
      : inLog.where(sql<boolean>`seq <= (select max(seq) from entries where agent = ${agent})`);
  }
  // The index has the numbers of the entries. The unary plus keeps SQLite from reading the log.
  const own = sql<boolean>`seq in (select seq from entries where agent = ${agent} and +seq > ${after} and +seq <= ${upTo})`;
  return messages.where(own);
}
