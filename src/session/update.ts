import { newId, VarveError } from "../domain/index.ts";
import type { Db, Store, StoreTransaction, Tx } from "../store/index.ts";
import { findSessionRow } from "./rows.ts";
import { patchColumns, type Session, type SessionPatch, sessionFromRow } from "./session.ts";

/** Changes the fields a caller may change; `undefined` leaves one alone, `null` clears it. */
export async function updateSession(
  store: Store,
  session: Session,
  patch: { [K in keyof SessionPatch]: SessionPatch[K] | null },
): Promise<Session> {
  const unknown = Object.keys(patch).filter((key) => !(key in patchColumns));
  if (unknown.length > 0) {
    throw new VarveError("BAD_REQUEST", `A session has no field ${unknown.join(", ")} that can be set.`, {
      remedy: `Use one of ${Object.keys(patchColumns).join(", ")}.`,
    });
  }
  return store.transaction(async ({ db }) => {
    const values: Record<string, unknown> = { updated_at: store.clock.now() };
    for (const [field, column] of Object.entries(patchColumns)) {
      const value = patch[field as keyof SessionPatch];
      if (value === undefined) continue;
      values[column] = field === "metadata" ? JSON.stringify(value ?? {}) : value;
    }
    await db
      .updateTable("sessions")
      .set(values)
      .where("agent", "=", session.agent)
      .where("key", "=", session.key)
      .execute();
    const row = await findSessionRow(db, session.agent, session.key);
    if (!row) throw new VarveError("SESSION_NOT_FOUND", `The session ${session.key} is gone.`);
    return sessionFromRow(row);
  });
}

/** Adds the tokens that a provider reported to the counters. */
export async function countTokens(
  store: Store,
  session: Session,
  used: { input: number; output: number; context?: number },
): Promise<void> {
  await store.transaction(({ db }) => tokensUpdate(db, store.clock.now(), session, used).execute());
}

/** Like `countTokens`, as a statement to be written with others. */
export function tokensUpdate(
  db: Db | Tx,
  now: number,
  session: Session,
  used: { input: number; output: number; context?: number },
) {
  return db
    .updateTable("sessions")
    .set((eb) => ({
      input_tokens: eb("input_tokens", "+", used.input),
      output_tokens: eb("output_tokens", "+", used.output),
      total_tokens: eb("total_tokens", "+", used.input + used.output),
      ...(used.context === undefined ? {} : { context_tokens: used.context }),
      updated_at: now,
    }))
    .where("agent", "=", session.agent)
    .where("key", "=", session.key);
}

/** Who a notice is for: the model reads it in its next turn; the person gets it with the next reply. */
export type NoticeAudience = "model" | "user";

/** Stores a notice for a session's next turn; it is dropped when the session is renewed first. */
export async function addNotice(
  store: Store,
  session: Session,
  text: string,
  audience: NoticeAudience = "model",
): Promise<void> {
  await store.transaction(async ({ db }) => {
    const notice = {
      id: newId(store.clock, store.random),
      session_id: session.sessionId,
      time: store.clock.now(),
      text,
      audience,
    };
    await db
      .insertInto("notices")
      .values({ agent: session.agent, key: session.key, ...notice })
      .execute();
  });
}

/** The pending notices of a session, oldest first; they stay until `noticesDelete` is executed. */
export async function readNotices(
  store: Store,
  session: Session,
  audience: NoticeAudience,
): Promise<{ id: string; time: number; text: string }[]> {
  return store.db
    .selectFrom("notices")
    .select(["id", "time", "text"])
    .where("agent", "=", session.agent)
    .where("key", "=", session.key)
    .where("session_id", "=", session.sessionId)
    .where("audience", "=", audience)
    .orderBy("id")
    .execute();
}

/** Removes notices that were read, as a statement to be written with others. */
export function noticesDelete(db: Db | Tx, session: Session, ids: readonly string[]) {
  return db
    .deleteFrom("notices")
    .where("agent", "=", session.agent)
    .where("key", "=", session.key)
    .where("id", "in", [...ids]);
}

/** Returns and removes the notices of a session. */
export async function takeNotices(
  store: Store,
  session: Session,
  audience: NoticeAudience = "model",
): Promise<{ time: number; text: string }[]> {
  const found = await readNotices(store, session, audience);
  if (found.length === 0) return [];
  return store.transaction(async ({ db }) => {
    const ids = found.map(({ id }) => id);
    // Another process may have taken some of them meanwhile.
    const taken = await noticesDelete(db, session, ids).returning("id").execute();
    const own = new Set(taken.map(({ id }) => id));
    return found.filter(({ id }) => own.has(id)).map(({ time, text }) => ({ time, text }));
  });
}

/** The tables with data of a conversation: the log, and everything derived from it. */
const ownedTables = [
  "entries",
  "branches",
  "transcripts",
  "checkpoints",
  "summaries",
  "summary_sources",
  "context_items",
  "context_states",
  "file_refs",
  "turns",
  "entry_vectors",
  "entry_tokens",
  "document_vectors",
  "memory_cursors",
  "memory_recalls",
] as const;

/** Removes a session with everything in it. Refused while a fork still points into it. */
export async function deleteSession(
  store: Store,
  session: Session,
): Promise<{ conversations: number; entries: number }> {
  const { agent, key } = session;
  return store.transaction(async (tx) => {
    const { db } = tx;
    const owned = await db
      .selectFrom("conversations")
      .select("id")
      .where("agent", "=", agent)
      .where("key", "=", key)
      .execute();
    const ids = owned.map((row) => row.id);
    const pointing = await db
      .selectFrom("branches")
      .select("conversation")
      .where("agent", "=", agent)
      .where("parent_conversation", "in", ids)
      .where("conversation", "not in", ids)
      .executeTakeFirst();
    if (pointing) {
      throw new VarveError("CONFLICT", `The session ${key} cannot be deleted: a fork continues from it.`, {
        remedy: "Delete the fork first; `varve sessions list` shows it.",
      });
    }
    const entries = await removeConversations(tx, agent, ids);
    for (const table of ["jobs", "inbox", "notices", "sessions"] as const) {
      await db.deleteFrom(table).where("agent", "=", agent).where("key", "=", key).execute();
    }
    return { conversations: ids.length, entries };
  });
}

/** Removes conversations with everything in them, and returns the number of their entries. Their sessions stay. */
export async function removeConversations(
  tx: StoreTransaction,
  agent: string,
  ids: readonly number[],
): Promise<number> {
  const { db } = tx;
  const entries = await db
    .selectFrom("entries")
    .select("seq")
    .where("agent", "=", agent)
    .where("conversation", "in", ids)
    .execute();
  for (let from = 0; from < entries.length; from += 1000) {
    await tx.removeText(
      agent,
      entries.slice(from, from + 1000).map((row) => row.seq),
    );
  }
  for (const table of ownedTables) {
    await db.deleteFrom(table).where("agent", "=", agent).where("conversation", "in", ids).execute();
  }
  // Files are shared by content hash: a file is removed with the last entry that references it.
  await db
    .deleteFrom("files")
    .where("agent", "=", agent)
    .where("id", "not in", db.selectFrom("file_refs").select("file").where("agent", "=", agent))
    .execute();
  await db.deleteFrom("conversations").where("agent", "=", agent).where("id", "in", ids).execute();
  return entries.length;
}

/** Records that the model was asked to write down what lasts, for this compaction. */
export async function markMemoryFlush(store: Store, session: Session): Promise<void> {
  await store.transaction(({ db }) =>
    db
      .updateTable("sessions")
      .set({ memory_flush_at: store.clock.now(), memory_flush_compaction_count: session.compactionCount })
      .where("agent", "=", session.agent)
      .where("key", "=", session.key)
      .execute(),
  );
}
