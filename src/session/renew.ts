import { newId, type ResetKind, VarveError } from "../domain/index.ts";
import type { Store } from "../store/index.ts";
import { enqueueJob, type NewJob, type StoreTransaction } from "../store/index.ts";
import type { ResetAnnouncer } from "./announce-reset.ts";
import { findSessionRow, lockName, newConversation, openTranscript } from "./rows.ts";
import { type Session, sessionFromRow } from "./session.ts";

/**
 * Ends the session id of a key and opens another. `new` stays in the conversation; `reset` archives it, still
 * searchable, and begins a fresh one. The old transcript's last entry records it, so it can be seen and undone.
 */
export async function renewSession(
  tx: StoreTransaction,
  session: Session,
  kind: ResetKind,
  reason: string,
): Promise<Session> {
  const { agent, key } = session;
  const now = tx.clock.now();
  const opensIn =
    kind === "new" ? session.conversation : await newConversation(tx, agent, key, session.audience ?? null);
  const place = { agent, conversation: session.conversation };
  const reset = {
    id: newId(tx.clock, tx.random),
    kind: "reset",
    time: now,
    tokens: 0,
    words: "",
    countsAsMessage: false,
  };
  // The new id is created before the entry that names it is written.
  const opened = await openTranscript(
    tx,
    { agent, conversation: opensIn },
    { parentSession: session.sessionId },
    false,
  );
  const payload = JSON.stringify({
    mode: kind,
    reason,
    fromSessionId: session.sessionId,
    toSessionId: opened.sessionId,
  });
  await tx.append({ ...place, transcript: session.transcript, now, entries: [{ ...reset, payload }] });
  const first = { id: opened.sessionId, kind: "session", time: now, tokens: 0, words: "", countsAsMessage: false };
  await tx.append({
    agent,
    conversation: opensIn,
    transcript: opened.transcript,
    now,
    entries: [{ ...first, payload: JSON.stringify({ parentSession: session.sessionId }) }],
  });
  await tx.db
    .updateTable("transcripts")
    .set({ ended_at: now })
    .where("agent", "=", agent)
    .where("session_id", "=", session.sessionId)
    .execute();
  if (kind === "reset") {
    await tx.db
      .updateTable("conversations")
      .set({ archived_at: now })
      .where("agent", "=", agent)
      .where("id", "=", session.conversation)
      .execute();
  }
  // Notices of the old session must not reach the new one.
  await tx.db.deleteFrom("notices").where("agent", "=", agent).where("key", "=", key).execute();
  await pointAt(tx, session, opened.sessionId, opensIn, now);
  // The ended session is summarised in the background, so that it can be found by its topics.
  if (kind === "new") await enqueueJob(tx, leftBehindJob(tx, agent, key), now);
  await enqueueJob(tx, memoriesJob(tx, session), now);
  return readBack(tx, agent, key);
}

function leftBehindJob(tx: StoreTransaction, agent: string, key: string): NewJob {
  const id = newId(tx.clock, tx.random);
  return { agent, id, kind: "compact new", key, payload: JSON.stringify({ because: "new" }), runAt: tx.clock.now() };
}

/** Extracts memories from the ended session, also when its conversation is archived now. */
function memoriesJob(tx: StoreTransaction, { agent, key, sessionId, conversation, transcript }: Session): NewJob {
  const id = newId(tx.clock, tx.random);
  const payload = JSON.stringify({ key, conversation, transcript });
  return { agent, id, kind: "memories left behind", key: `${key} ${sessionId}`, payload, runAt: tx.clock.now() };
}

async function pointAt(
  tx: StoreTransaction,
  session: Session,
  sessionId: string,
  conversation: number,
  now: number,
): Promise<void> {
  const counters = conversation === session.conversation ? {} : { message_count: 0 };
  await tx.db
    .updateTable("sessions")
    .set({
      session_id: sessionId,
      conversation,
      session_started_at: now,
      updated_at: now,
      input_tokens: 0,
      output_tokens: 0,
      total_tokens: 0,
      context_tokens: 0,
      ...counters,
    })
    .where("agent", "=", session.agent)
    .where("key", "=", session.key)
    .execute();
}

async function readBack(tx: StoreTransaction, agent: string, key: string): Promise<Session> {
  const row = await findSessionRow(tx.db, agent, key);
  if (!row) throw new VarveError("INTERNAL", `The session ${key} was written and cannot be read.`);
  return sessionFromRow(row);
}

/**
 * Undoes a reset: the key points to an earlier session id again (the previous one, unless one is named). Later messages
 * stay in their archived conversation, or on their own branch.
 */
export async function restoreSession(store: Store, session: Session, toSessionId?: string): Promise<Session> {
  const { agent, key } = session;
  return store.transaction(async (tx) => {
    await tx.lock(lockName(agent, key));
    const now = store.clock.now();
    const current = await readBack(tx, agent, key);
    const wanted = toSessionId ?? (await findPrevious(tx, agent, current.sessionId));
    const target = await tx.db
      .selectFrom("transcripts")
      .innerJoin("conversations", (join) =>
        join
          .onRef("conversations.agent", "=", "transcripts.agent")
          .onRef("conversations.id", "=", "transcripts.conversation"),
      )
      .select(["transcripts.conversation", "transcripts.id", "conversations.key", "conversations.message_count"])
      .where("transcripts.agent", "=", agent)
      .where("transcripts.session_id", "=", wanted ?? "")
      .executeTakeFirst();
    if (!target || target.key !== key || wanted === undefined) {
      throw new VarveError(
        "NOTHING_TO_RESTORE",
        `The session ${key} has no earlier session id${toSessionId ? ` ${toSessionId}` : ""} to go back to.`,
        {
          remedy: "`varve sessions show KEY` lists the session ids of a key.",
        },
      );
    }
    if (target.conversation === current.conversation) await rewind(tx, agent, target.conversation, target.id);
    else await swapArchive(tx, agent, current.conversation, target.conversation, now);
    await tx.db
      .updateTable("transcripts")
      .set({ ended_at: null })
      .where("agent", "=", agent)
      .where("id", "=", target.id)
      .execute();
    await tx.db
      .updateTable("transcripts")
      .set({ ended_at: now })
      .where("agent", "=", agent)
      .where("session_id", "=", current.sessionId)
      .execute();
    await tx.db
      .updateTable("sessions")
      .set({
        session_id: wanted,
        conversation: target.conversation,
        // Restoring is a start and an interaction: neither the daily nor the idle reset ends the session again at once.
        session_started_at: now,
        last_interaction_at: now,
        updated_at: now,
        message_count: target.message_count,
      })
      .where("agent", "=", agent)
      .where("key", "=", key)
      .execute();
    return readBack(tx, agent, key);
  });
}

async function findPrevious(tx: StoreTransaction, agent: string, sessionId: string): Promise<string | undefined> {
  const row = await tx.db
    .selectFrom("transcripts")
    .select("parent_session")
    .where("agent", "=", agent)
    .where("session_id", "=", sessionId)
    .executeTakeFirst();
  return row?.parent_session ?? undefined;
}

/** Moves the head back to the last entry of a transcript that is not the record of its own end. */
async function rewind(tx: StoreTransaction, agent: string, conversation: number, transcript: number): Promise<void> {
  const last = await tx.db
    .selectFrom("entries")
    .innerJoin("transcripts", (join) =>
      join.onRef("transcripts.agent", "=", "entries.agent").onRef("transcripts.id", "=", "entries.transcript"),
    )
    .select(["entries.branch", "entries.seq"])
    .where("entries.agent", "=", agent)
    .where("entries.conversation", "=", conversation)
    .where("entries.transcript", "=", transcript)
    .where("entries.kind", "!=", "reset")
    .whereRef("entries.seq", "<=", "transcripts.last_seq")
    .orderBy("entries.seq", "desc")
    .limit(1)
    .executeTakeFirst();
  if (!last) return;
  await tx.db
    .updateTable("conversations")
    .set({ head_branch: last.branch, head_seq: last.seq })
    .where("agent", "=", agent)
    .where("id", "=", conversation)
    .execute();
}

async function swapArchive(
  tx: StoreTransaction,
  agent: string,
  leave: number,
  enter: number,
  now: number,
): Promise<void> {
  await tx.db
    .updateTable("conversations")
    .set({ archived_at: now })
    .where("agent", "=", agent)
    .where("id", "=", leave)
    .execute();
  await tx.db
    .updateTable("conversations")
    .set({ archived_at: null })
    .where("agent", "=", agent)
    .where("id", "=", enter)
    .execute();
}

/** Renews a session outside of a turn: `varve sessions new` and `reset`. */
export async function renewNow(
  store: Store,
  session: Session,
  { kind, reason }: { kind: ResetKind; reason: "trigger" | "request" },
  announcer: ResetAnnouncer,
): Promise<Session> {
  return announcer.renew((mayEnd) =>
    store.transaction(async (tx) => {
      await tx.lock(lockName(session.agent, session.key));
      const current = await readBack(tx, session.agent, session.key);
      mayEnd({ session: current, kind, reason });
      return renewSession(tx, current, kind, reason === "request" ? "asked for" : reason);
    }),
  );
}
