import { sql } from "kysely";
import { type Door, printItself } from "../authorization/index.ts";
import {
  getChannel,
  getChatType,
  lowerCaseKey,
  newUuid,
  parseKeySpellings,
  printStoredKey,
  type SessionKey,
  VarveError,
} from "../domain/index.ts";
import { type Db, prepareQuery, type Store, type StoreTransaction, type Tx } from "../store/index.ts";
import { type Session, type SessionRow, sessionFromRow } from "./session.ts";

/** Session rows with the id of their current transcript; the caller adds its conditions. */
export function selectSessions(db: Db | Tx) {
  return db
    .selectFrom("sessions")
    .innerJoin("transcripts", (join) =>
      join
        .onRef("transcripts.agent", "=", "sessions.agent")
        .onRef("transcripts.session_id", "=", "sessions.session_id"),
    )
    .selectAll("sessions")
    .select(["transcripts.id as transcript", "transcripts.cwd as cwd"]);
}

export async function findSessionRow(db: Db | Tx, agent: string, key: string): Promise<SessionRow | undefined> {
  return selectSessions(db).where("sessions.agent", "=", agent).where("sessions.key", "=", key).executeTakeFirst();
}

const sessionNamed = prepareQuery((db, { agent, key }: { agent: string; key: string }) =>
  selectSessions(db).where("sessions.agent", "=", agent).where("sessions.key", "=", key),
);
const noticesFor = prepareQuery((db, { agent, key }: { agent: string; key: string }) =>
  db.selectFrom("notices").select("session_id").where("agent", "=", agent).where("key", "=", key),
);

/** A session, and whether it has pending notices. */
export async function findNoticedSession(
  store: Store,
  agent: string,
  key: string,
): Promise<{ session: Session; hasNotices: boolean } | undefined> {
  const named = { agent, key };
  const [[row], waiting] = await store.readBatch([sessionNamed(store.db, named), noticesFor(store.db, named)]);
  return row && { session: sessionFromRow(row), hasNotices: waiting.some((one) => one.session_id === row.session_id) };
}

/** The lock that a change of a session takes first, so that two processes never renew it at the same time. */
export function lockName(agent: string, key: string): string {
  return `session ${agent} ${key}`;
}

export async function getSession(store: Store, agent: string, key: string): Promise<Session> {
  const row = await findSessionRow(store.db, agent, key);
  if (row) return sessionFromRow(row);
  throw new VarveError("SESSION_NOT_FOUND", `There is no session ${key} of agent ${agent}.`, {
    remedy: "List what there is with `varve sessions list`.",
  });
}

export interface NewTranscript {
  sessionId?: string;
  parentSession?: string;
  /** The boundary of the session that this one was forked from. */
  inheritedBeginSeq?: number;
  cwd?: string;
  title?: string;
  startedAt?: number;
}

/** Opens a transcript in a conversation; its first entry records it. */
export async function openTranscript(
  tx: StoreTransaction,
  place: { agent: string; conversation: number },
  given: NewTranscript,
  firstEntry = true,
): Promise<{ sessionId: string; transcript: number; startedAt: number }> {
  const now = tx.clock.now();
  const sessionId = given.sessionId ?? newUuid(tx.random);
  const startedAt = given.startedAt ?? now;
  const id = await tx.nextNumber("transcript_id");
  await tx.db
    .insertInto("transcripts")
    .values({
      agent: place.agent,
      id,
      session_id: sessionId,
      conversation: place.conversation,
      started_at: startedAt,
      parent_session: given.parentSession ?? null,
      inherited_begin_seq: given.inheritedBeginSeq ?? null,
      cwd: given.cwd ?? null,
      title: given.title ?? null,
    })
    .execute();
  if (firstEntry) {
    const payload = JSON.stringify({ cwd: given.cwd, parentSession: given.parentSession });
    const entry = {
      id: sessionId,
      kind: "session",
      time: startedAt,
      tokens: 0,
      payload,
      words: "",
      countsAsMessage: false,
    };
    await tx.append({ ...place, transcript: id, now, entries: [entry] });
  }
  return { sessionId, transcript: id, startedAt };
}

export async function newConversation(
  tx: StoreTransaction,
  agent: string,
  key: string,
  audience: string | null,
): Promise<number> {
  const now = tx.clock.now();
  const id = await tx.nextNumber("conversation_id");
  await tx.db
    .insertInto("conversations")
    .values({
      agent,
      id,
      key,
      audience,
      created_at: now,
      updated_at: now,
      branch_count: 0,
      entry_count: 0,
      message_count: 0,
      tokens: 0,
    })
    .execute();
  return id;
}

export interface CreateSession {
  agent: string;
  key: SessionKey;
  keyText: string;
  transcript?: NewTranscript;
  /** An existing conversation to use (a fork); a new one when absent. */
  conversation?: number;
  displayName?: string;
  metadata?: Record<string, unknown>;
  /** When it was last used; now when absent. Imports give the past. */
  lastInteractionAt?: number;
  firstEntry?: boolean;
  /** Whom it belongs to; absent for the owner, and for a sub-agent, which belongs to the session that started it. */
  audience?: string;
  /** Whether a sub-agent whose starter is unknown is the owner's. */
  isOwners?: boolean;
  /** The way by which it came in. */
  door: Door;
  /** The key of the session that started this sub-agent; found by `transcript.parentSession` when absent. */
  parentKey?: string;
}

/** The key of the conversation that has a session id. */
export async function findKeyOf(
  tx: StoreTransaction,
  agent: string,
  sessionId: string | undefined,
): Promise<string | null> {
  if (sessionId === undefined) return null;
  const row = await tx.db
    .selectFrom("transcripts")
    .innerJoin("conversations", (join) =>
      join
        .onRef("conversations.agent", "=", "transcripts.agent")
        .onRef("conversations.id", "=", "transcripts.conversation"),
    )
    .select("conversations.key")
    .where("transcripts.agent", "=", agent)
    .where("transcripts.session_id", "=", sessionId)
    .executeTakeFirst();
  return row?.key ?? null;
}

/** The audience of the session that started a sub-agent; undefined when there is no such session. */
async function findAudienceOf(
  { db }: StoreTransaction,
  agent: string,
  key: string,
): Promise<{ audience: string | null } | undefined> {
  return db
    .selectFrom("sessions")
    .select("audience")
    .where("agent", "=", agent)
    .where("key", "=", key)
    .executeTakeFirst();
}

export async function createSession(tx: StoreTransaction, given: CreateSession): Promise<SessionRow> {
  const { agent, key, keyText } = given;
  const now = tx.clock.now();
  const isSubagent = key.kind === "subagent";
  const parentKey =
    given.parentKey ?? (await findKeyOf(tx, agent, isSubagent ? given.transcript?.parentSession : undefined));
  const parent = parentKey === null ? undefined : await findAudienceOf(tx, agent, parentKey);
  // A sub-agent that nobody known has started may work for anybody.
  const isOrphan = isSubagent && parent === undefined && !given.isOwners && given.door !== "owner";
  const itself = isOrphan ? printItself(key.kind, key.id) : null;
  const audience = given.audience ?? (isSubagent ? (parent?.audience ?? itself) : null);
  const conversation = given.conversation ?? (await newConversation(tx, agent, keyText, audience));
  const opened = await openTranscript(tx, { agent, conversation }, given.transcript ?? {}, given.firstEntry);
  const row = await tx.db
    .insertInto("sessions")
    .values({
      agent,
      key: keyText,
      session_id: opened.sessionId,
      conversation,
      session_started_at: opened.startedAt,
      last_interaction_at: given.lastInteractionAt ?? now,
      updated_at: given.lastInteractionAt ?? now,
      created_at: opened.startedAt,
      chat_type: getChatType(key),
      channel: replaceNul(getChannel(key) ?? null),
      room: key.kind === "group" ? replaceNul(key.id) : null,
      display_name: given.displayName ?? null,
      input_tokens: 0,
      output_tokens: 0,
      total_tokens: 0,
      context_tokens: 0,
      message_count: 0,
      compaction_count: 0,
      metadata: JSON.stringify(given.metadata ?? {}),
      parent_key: isSubagent ? parentKey : null,
      audience,
      door: given.door,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return { ...row, transcript: opened.transcript };
}

/** PostgreSQL stores no NUL in a column. */
function replaceNul<T extends string | null>(text: T): T {
  return (text?.replaceAll("\0", "\ufffd") ?? null) as T;
}

/** The agent of a key: the one it names, else the given default. */
export function resolveAgent(key: SessionKey, fallback: string): string {
  return ("agent" in key ? key.agent : undefined) ?? fallback;
}

/** Like `findSession`, but undefined for a session that does not exist, for example because it was deleted. */
export async function findSessionIfAny(store: Store, name: string, agent: string): Promise<Session | undefined> {
  try {
    return await findSession(store, name, agent);
  } catch (error) {
    if (error instanceof VarveError && error.code === "SESSION_NOT_FOUND") return undefined;
    throw error;
  }
}

/** Finds a session by its key, its session id, or an unambiguous prefix of one. */
export async function findSession(store: Store, name: string, agent: string): Promise<Session> {
  for (const key of listSpellings(name)) {
    const row = await findSessionRow(store.db, resolveAgent(key, agent), printStoredKey(key));
    if (row) return sessionFromRow(row);
  }
  // A complete session id wins over longer ids with the same prefix, such as those of its sub-agents.
  const whole = await sessionsWithId(store, agent).where("transcripts.session_id", "=", name).limit(2).execute();
  const found =
    whole.length > 0
      ? whole
      : await sessionsWithId(store, agent)
          .where((where) =>
            where(where.fn("substr", ["transcripts.session_id", sql.lit(1), sql.lit(name.length)]), "=", name),
          )
          .limit(3)
          .execute();
  const [only] = found;
  if (only && found.length === 1) return getSession(store, only.agent, only.key);
  if (found.length > 1) {
    throw new VarveError(
      "AMBIGUOUS",
      `${JSON.stringify(name)} fits several sessions, ${found.map((row) => row.key).join(", ")} among them.`,
      {
        remedy: "Give more of the session id, or the whole key.",
      },
    );
  }
  throw new VarveError("SESSION_NOT_FOUND", `There is no session ${JSON.stringify(name)}.`, {
    remedy: "Name a session by its key or its session id; `varve sessions list` shows them.",
  });
}

function sessionsWithId(store: Store, agent: string) {
  return store.db
    .selectFrom("transcripts")
    .innerJoin("sessions", (join) =>
      join
        .onRef("sessions.agent", "=", "transcripts.agent")
        .onRef("sessions.conversation", "=", "transcripts.conversation"),
    )
    .select(["sessions.agent", "sessions.key"])
    .distinct()
    .where("transcripts.agent", "=", agent);
}

/** The keys that a name may be, as they are or were written; empty when it is no key. */
function listSpellings(name: string): SessionKey[] {
  try {
    const keys = parseKeySpellings(name);
    const lowered = keys[0] && lowerCaseKey(keys[0]);
    return lowered ? [...keys, lowered] : keys;
  } catch (error) {
    if (error instanceof VarveError && error.code === "BAD_KEY") return [];
    throw error;
  }
}

/**
 * The boundary of a session id: the first entry that its context shows message by message. After `/new` it is the first
 * entry of the new session id; a fork has the boundary of the session it was forked from. Undefined when nothing precedes
 * the session.
 */
export async function readSessionStart(store: Store, session: Session): Promise<number | undefined> {
  return (await sessionStartQuery(store.db, session).executeTakeFirst())?.seq ?? undefined;
}

/** Like `readSessionStart`, as a query to be combined with others. */
export function sessionStartQuery(db: Db, { agent, transcript }: Pick<Session, "agent" | "transcript">) {
  return db
    .selectFrom("transcripts as own")
    .leftJoin("transcripts as before", (join) =>
      join
        .onRef("before.agent", "=", "own.agent")
        .onRef("before.session_id", "=", "own.parent_session")
        .onRef("before.conversation", "=", "own.conversation"),
    )
    .select((eb) =>
      eb
        .case()
        .when("before.id", "is not", null)
        .then(eb.ref("own.first_seq"))
        .else(eb.ref("own.inherited_begin_seq"))
        .end()
        .as("seq"),
    )
    .where("own.agent", "=", agent)
    .where("own.id", "=", transcript);
}
