import { sql } from "kysely";
import { getChannel, getChatType, parseSessionKey } from "../domain/index.ts";
import type { Store } from "../store/index.ts";
import { findSession, findSessionRow } from "./rows.ts";
import { type Session, sessionFromRow } from "./session.ts";

/** A session for reading: the one that a name stands for, also when its key points to another one now. */
export interface ReadableSession extends Session {
  /** False for a session id that was renewed, archived or deleted at its source. */
  current: boolean;
}

/**
 * Finds what a key, a session id or the start of one stands for. A key is its current session; a session id is its own
 * transcript, in whatever conversation it is.
 */
export async function findReadable(store: Store, name: string, agent: string): Promise<ReadableSession> {
  const exact = await findTranscripts(store, name, agent, true);
  const found = exact.length > 0 ? exact : await findTranscripts(store, name, agent, false);
  const [only] = found;
  if (only === undefined || found.length > 1) return { ...(await findSession(store, name, agent)), current: true };
  const row = await findSessionRow(store.db, agent, only.key);
  if (row?.session_id === only.session_id) return { ...sessionFromRow(row), current: true };
  const base = row ? sessionFromRow(row) : describeArchived(agent, only);
  return {
    ...base,
    sessionId: only.session_id,
    conversation: only.conversation,
    transcript: only.id,
    sessionStartedAt: only.started_at,
    lastInteractionAt: only.ended_at ?? only.archived_at ?? only.started_at,
    messageCount: only.message_count,
    ...(only.title === null ? {} : { displayName: only.title }),
    current: false,
  };
}

type TranscriptRow = Awaited<ReturnType<typeof findTranscripts>>[number];

function findTranscripts(store: Store, name: string, agent: string, whole: boolean) {
  const query = store.db
    .selectFrom("transcripts")
    .innerJoin("conversations", (join) =>
      join
        .onRef("conversations.agent", "=", "transcripts.agent")
        .onRef("conversations.id", "=", "transcripts.conversation"),
    )
    .select(["transcripts.id", "transcripts.session_id", "transcripts.conversation", "transcripts.started_at"])
    .select(["transcripts.ended_at", "transcripts.title", "conversations.key", "conversations.archived_at"])
    .select(["conversations.message_count", "conversations.audience"])
    .where("transcripts.agent", "=", agent);
  const named = whole
    ? query.where("transcripts.session_id", "=", name)
    : query.where((where) =>
        where(where.fn("substr", ["transcripts.session_id", sql.lit(1), sql.lit(name.length)]), "=", name),
      );
  return named.orderBy("transcripts.id").limit(2).execute();
}

/** A session whose key is no longer in use. */
function describeArchived(agent: string, row: TranscriptRow): Session {
  const key = parseSessionKey(row.key);
  const channel = getChannel(key);
  const counters = { inputTokens: 0, outputTokens: 0, totalTokens: 0, contextTokens: 0, compactionCount: 0 };
  return {
    agent,
    key: row.key,
    sessionId: row.session_id,
    conversation: row.conversation,
    transcript: row.id,
    sessionStartedAt: row.started_at,
    lastInteractionAt: row.started_at,
    updatedAt: row.archived_at ?? row.started_at,
    createdAt: row.started_at,
    chatType: getChatType(key),
    ...(channel === undefined ? {} : { channel }),
    ...counters,
    messageCount: row.message_count,
    metadata: {},
    ...(row.audience === null ? {} : { audience: row.audience }),
  };
}
