import { sql } from "kysely";
import { VarveError } from "../domain/index.ts";
import type { Store } from "../store/index.ts";
import { selectSessions } from "./rows.ts";
import { type Session, type SessionRow, sessionFromRow } from "./session.ts";

/** By last use, number of messages, tokens, creation: largest first. By name: in the order of the alphabet. */
export const sessionSorts = ["recent", "messages", "tokens", "created", "name"] as const;
export type SessionSort = (typeof sessionSorts)[number];

const sortColumns = {
  recent: "sessions.updated_at",
  messages: "sessions.message_count",
  tokens: "sessions.total_tokens",
  created: "sessions.created_at",
  name: "sessions.display_name",
} as const satisfies Record<SessionSort, string>;

export interface ListOptions {
  agent: string;
  /** 1 to 1000; 50 when absent. */
  limit?: number;
  /** The cursor of the previous page. */
  after?: string;
  channel?: string;
  chatType?: string;
  /** Only sessions whose key, name or folder contains this. */
  match?: string;
  /** The order; most recently used first when absent. */
  sort?: SessionSort;
  /** Only sessions that were started in this folder. */
  cwd?: string;
  /** Only sessions of these conversations. */
  conversations?: readonly number[];
  /** Only the sub-agents of the session with this key. */
  parent?: string;
  /** Whether sub-agents are listed next to the sessions that started them, instead of being counted there. */
  all?: boolean;
}

/** A session of a list. */
export interface ListedSession extends Session {
  /** How many sub-agents it started; absent when there are none. */
  subagents?: number;
}

export interface SessionPage {
  sessions: ListedSession[];
  /** Pass as `after` for the next page; absent on the last. */
  next?: string;
}

/** Sessions, most recently used first. Each page is one index range scan: as fast at 100,000 sessions as at 10. */
export async function listSessions(store: Store, options: ListOptions): Promise<SessionPage> {
  const limit = Math.min(Math.max(options.limit ?? 50, 1), 1000);
  let query = selectSessions(store.db).where("sessions.agent", "=", options.agent);
  if (options.conversations !== undefined) query = query.where("sessions.conversation", "in", options.conversations);
  if (options.channel !== undefined) query = query.where("sessions.channel", "=", options.channel);
  if (options.chatType !== undefined) query = query.where("sessions.chat_type", "=", options.chatType);
  if (options.match !== undefined) query = query.where(matches(options.match));
  if (options.cwd !== undefined) query = query.where("transcripts.cwd", "=", options.cwd);
  // A sub-agent is listed with its parent, unless the parent is gone or a text is looked for.
  if (options.parent !== undefined) query = query.where("sessions.parent_key", "=", options.parent);
  else if (!options.all && options.match === undefined) {
    query = query.where((where) =>
      where.or([
        where("sessions.parent_key", "is", null),
        where.not(
          where.exists(
            where
              .selectFrom("sessions as parents")
              .select("parents.key")
              .whereRef("parents.agent", "=", "sessions.agent")
              .whereRef("parents.key", "=", "sessions.parent_key"),
          ),
        ),
      ]),
    );
  }
  const sort = options.sort ?? "recent";
  // Sessions without a name come last: the highest character is after every name.
  const value =
    sort === "name"
      ? sql<string>`coalesce(lower(sessions.display_name), ${noName})`
      : sql.ref<number>(sortColumns[sort]);
  const direction = sort === "name" ? "asc" : "desc";
  if (options.after !== undefined) {
    const { position, key } = parseCursor(options.after, sort);
    const [upTo, beyond] = sort === "name" ? ([">=", ">"] as const) : (["<=", "<"] as const);
    // The first condition is the start of the index range; the second skips rows of the same position.
    query = query
      .where(value, upTo, position as never)
      .where((where) => where.or([where(value, beyond, position as never), where("sessions.key", ">", key)]));
  }
  const rows: SessionRow[] = await query
    .orderBy(value, direction)
    .orderBy("sessions.key")
    .limit(limit + 1)
    .execute();
  const sessions = await countSubagents(store, options.agent, rows.slice(0, limit).map(sessionFromRow));
  const last = sessions.at(-1);
  if (rows.length <= limit || !last) return { sessions };
  return { sessions, next: Buffer.from(JSON.stringify([positionOf[sort](last), last.key])).toString("base64url") };
}

const noName = "\u{10ffff}";

const positionOf: Readonly<Record<SessionSort, (session: Session) => number | string>> = {
  recent: ({ updatedAt }) => updatedAt,
  messages: ({ messageCount }) => messageCount,
  tokens: ({ totalTokens }) => totalTokens,
  created: ({ createdAt }) => createdAt,
  name: ({ displayName }) => displayName?.toLowerCase() ?? noName,
};

/** Whether the key, the name or the folder contains a text, in upper or lower case. */
function matches(text: string) {
  const pattern = `%${text.toLowerCase().replaceAll(/[\\%_]/g, "\\$&")}%`;
  return sql<boolean>`(lower(sessions.key) like ${pattern} escape '\\'
    or lower(sessions.display_name) like ${pattern} escape '\\'
    or lower(transcripts.cwd) like ${pattern} escape '\\')`;
}

async function countSubagents(store: Store, agent: string, sessions: Session[]): Promise<ListedSession[]> {
  if (sessions.length === 0) return [];
  const rows = await store.db
    .selectFrom("sessions")
    .select((eb) => ["parent_key", eb.fn.countAll<number>().as("count")])
    .where("agent", "=", agent)
    .where(
      "parent_key",
      "in",
      sessions.map(({ key }) => key),
    )
    .groupBy("parent_key")
    .execute();
  const counts = new Map(rows.map((row) => [row.parent_key, Number(row.count)]));
  return sessions.map((session) => {
    const subagents = counts.get(session.key);
    return subagents === undefined ? session : { ...session, subagents };
  });
}

function parseCursor(cursor: string, sort: SessionSort): { position: number | string; key: string } {
  try {
    const [position, key] = JSON.parse(Buffer.from(cursor, "base64url").toString()) as [unknown, unknown];
    const isPosition = sort === "name" ? typeof position === "string" : typeof position === "number";
    if (isPosition && typeof key === "string") return { position: position as number | string, key };
  } catch (error) {
    throw badCursor(cursor, error);
  }
  throw badCursor(cursor);
}

function badCursor(cursor: string, cause?: unknown): VarveError {
  return new VarveError("BAD_REQUEST", `The cursor ${JSON.stringify(cursor.slice(0, 80))} is not one this list gave.`, {
    remedy: "Start without a cursor and pass on `next` as it comes, with the same order.",
    cause,
  });
}

export interface TranscriptInfo {
  sessionId: string;
  conversation: number;
  startedAt: number;
  endedAt: number | null;
  archived: boolean;
  title: string | null;
  parentSession: string | null;
}

/** Every session id a key has had, oldest first, archived conversations included. */
export async function sessionHistory(store: Store, agent: string, key: string): Promise<TranscriptInfo[]> {
  const rows = await store.db
    .selectFrom("transcripts")
    .innerJoin("conversations", (join) =>
      join
        .onRef("conversations.agent", "=", "transcripts.agent")
        .onRef("conversations.id", "=", "transcripts.conversation"),
    )
    .select([
      "transcripts.session_id",
      "transcripts.conversation",
      "transcripts.started_at",
      "transcripts.ended_at",
      "transcripts.title",
      "transcripts.parent_session",
      "conversations.archived_at",
    ])
    .where("conversations.agent", "=", agent)
    .where("conversations.key", "=", key)
    .orderBy("transcripts.id")
    .execute();
  return rows.map((row) => ({
    sessionId: row.session_id,
    conversation: row.conversation,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    archived: row.archived_at !== null,
    title: row.title,
    parentSession: row.parent_session,
  }));
}
