import {
  type Clock,
  isJsonObject,
  type JsonObject,
  type Message,
  type Role,
  systemClock,
  VarveError,
} from "../domain/index.ts";
import type { Session, Varve } from "../index.ts";
import { createUserKey, type ManagerOptions, resolveSessionName, SharedEngine, toManagerOptions } from "./engine.ts";

/** A session as applications see it. */
export interface ManagedSession {
  sessionId: string;
  /** `{channel}:{userId}` */
  sessionKey: string;
  channel: string;
  userId: string;
  createdAt: number;
  updatedAt: number;
  messageCount: number;
  compactionCount: number;
}

export interface TranscriptMessage {
  id: string;
  role: Role;
  content: Message["content"];
  time: number;
  meta?: JsonObject;
}

export type SessionManagerOptions = ManagerOptions & {
  /** A session without messages for longer than this is renewed; default: 4 hours. */
  sessionMaxAgeMs?: number;
};

const fourHoursMs = 4 * 3_600_000;
const defaultLimit = 1_000;
const pageMax = 1_000;

/**
 * Manages one conversation per channel and user.
 *
 * @example
 * const sessions = new SessionManager({ home: "./memory" });
 * const session = await sessions.getOrCreate("telegram", "5054873275");
 * await sessions.appendMessage(session.sessionId, "user", "My flight is on Friday at 7.");
 * console.log(await sessions.loadTranscript(session.sessionId));
 * await sessions.close();
 */
export class SessionManager {
  readonly #engine: SharedEngine;
  readonly #maxAgeMs: number;
  readonly #clock: Clock;

  /** Takes an open engine, options to open one, or its folder. */
  constructor(given: SessionManagerOptions | string = {}) {
    const options: SessionManagerOptions = toManagerOptions(given);
    this.#engine = new SharedEngine(options);
    this.#clock = ("clock" in options ? options.clock : undefined) ?? systemClock;
    this.#maxAgeMs = options.sessionMaxAgeMs ?? fourHoursMs;
  }

  /** Returns the session of a user: creates it when there is none, renews it when it is too old. */
  async getOrCreate(channel: string, userId: string): Promise<ManagedSession> {
    const varve = await this.#engine.open();
    const key = createUserKey(varve, channel, userId);
    const known = await findSession(varve, key);
    const quietMs = known === undefined ? 0 : this.#clock.now() - known.lastInteractionAt;
    const opened = (await varve.sessions.open({ key })).session;
    const session = known === undefined ? await nameUser(varve, opened, channel, userId) : opened;
    if (known === undefined || quietMs <= this.#maxAgeMs) return toManagedSession(session);
    return toManagedSession(await varve.sessions.renew(session, "new"));
  }

  /**
   * Returns the newest `limit` messages of a session id, oldest first, also of one that was reset. After
   * `compactSession`, its summary stands for the messages before it; `{ all: true }` returns those instead.
   */
  async loadTranscript(
    sessionId: string,
    limit = defaultLimit,
    { all = false }: { all?: boolean } = {},
  ): Promise<TranscriptMessage[]> {
    const varve = await this.#engine.open();
    const session = await varve.sessions.find(resolveSessionName(varve, sessionId));
    const given = all || !session.current ? undefined : await findGivenSummary(varve, session);
    const found: TranscriptMessage[] = [];
    for (let before: number | undefined; found.length < limit; ) {
      const page = await varve.transcripts.read(session, { limit: pageMax, before, currentOnly: true });
      const messages = page.entries.flatMap((entry): TranscriptMessage[] => {
        if (entry.type !== "message" || entry.seq <= (given?.lastSeq ?? 0)) return [];
        const { role, content, meta } = entry.message;
        return [{ id: entry.id, role, content, time: entry.time, ...(meta === undefined ? {} : { meta }) }];
      });
      found.unshift(...messages);
      before = page.before;
      if (before === undefined || before <= (given?.lastSeq ?? 0)) break;
    }
    if (given) found.unshift(given.message);
    return limit === 0 ? [] : found.slice(-limit);
  }

  /** Appends one message; it is durable when this returns. */
  async appendMessage(
    sessionId: string,
    role: Role,
    content: Message["content"],
    meta?: JsonObject,
  ): Promise<{ id: string }> {
    const varve = await this.#engine.open();
    const session = await findCurrent(varve, sessionId);
    // A message of the user counts as activity, which keeps the session from expiring.
    if (role === "user") await varve.sessions.open({ key: session.key, agent: session.agent });
    const message: Message = { role, content, ...(meta === undefined ? {} : { meta }) };
    const { entries } = await varve.context.ingest(session, [message]);
    await varve.context.afterTurn(session);
    return { id: entries[0]?.id ?? "" };
  }

  /** Starts a new session id in the same conversation; earlier messages stay searchable. */
  async resetSession(sessionId: string): Promise<ManagedSession> {
    const varve = await this.#engine.open();
    return toManagedSession(await varve.sessions.renew(await findCurrent(varve, sessionId), "new"));
  }

  /** Returns a session by its id or its key; undefined when there is none. */
  async getSession(sessionIdOrKey: string): Promise<ManagedSession | undefined> {
    const varve = await this.#engine.open();
    const session = await findSession(varve, resolveSessionName(varve, sessionIdOrKey));
    return session && toManagedSession(session);
  }

  /** Returns the sessions of all users, most recently used first. */
  async listSessions(options: { channel?: string; limit?: number } = {}): Promise<ManagedSession[]> {
    const varve = await this.#engine.open();
    const { sessions } = await varve.sessions.list({ ...options, all: true });
    return sessions.filter((session) => parseKey(session) !== undefined).map(toManagedSession);
  }

  /** Replaces the messages in the context by a summary; every message stays stored and searchable. */
  async compactSession(sessionId: string, summary: string): Promise<ManagedSession> {
    if (summary.trim() === "") {
      throw new VarveError("BAD_REQUEST", "The summary is empty.", { remedy: "Pass a summary of the session." });
    }
    const varve = await this.#engine.open();
    const session = await findCurrent(varve, sessionId);
    await varve.context.compact(session, { summary });
    return toManagedSession(await varve.sessions.get(session.key, session.agent));
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}

/** Keys are lower-cased; ids of users are not. */
async function nameUser(varve: Varve, session: Session, channel: string, userId: string): Promise<Session> {
  if (`${channel}${userId}` === `${channel}${userId}`.toLowerCase()) return session;
  return varve.sessions.update(session, { metadata: { ...session.metadata, user: { channel, id: userId } } });
}

function parseKey({ key, metadata }: Session): { channel: string; userId: string } | undefined {
  const [, channel, userId] = /^agent:[^:]+:([^:]+):direct:(.+)$/.exec(key) ?? [];
  if (channel === undefined || userId === undefined) return undefined;
  const { user } = metadata;
  if (!isJsonObject(user) || typeof user.channel !== "string" || typeof user.id !== "string")
    return { channel, userId };
  return { channel: user.channel, userId: user.id };
}

/** The session to change. One that was renewed is refused, so that nothing lands in another session. */
async function findCurrent(varve: Varve, name: string): Promise<Session> {
  const session = await varve.sessions.find(resolveSessionName(varve, name));
  if (session.current) return session;
  throw new VarveError(
    "CONFLICT",
    `The session ${session.sessionId} was renewed; ${session.key} has another one now.`,
    {
      remedy: "Use the sessionId that getOrCreate returns.",
    },
  );
}

/** The summary that the application gave last, and the last entry it stands for. */
async function findGivenSummary(varve: Varve, session: Session) {
  const { summaries } = await varve.context.overview(session);
  const given = summaries.findLast((summary) => summary.quality.isSealed === true);
  if (given === undefined) return undefined;
  const message: TranscriptMessage = {
    id: given.id,
    role: "system",
    content: given.content,
    time: given.createdAt,
    meta: { compaction: true, messages: given.sourceMessageCount },
  };
  return { lastSeq: given.lastSeq, message };
}

function toManagedSession(session: Session): ManagedSession {
  const { channel = session.channel ?? "", userId = "" } = parseKey(session) ?? {};
  const { sessionId, sessionStartedAt, updatedAt, messageCount, compactionCount } = session;
  const sessionKey = `${channel}:${userId}`;
  return {
    sessionId,
    sessionKey,
    channel,
    userId,
    createdAt: sessionStartedAt,
    updatedAt,
    messageCount,
    compactionCount,
  };
}

async function findSession(varve: Varve, name: string): Promise<Session | undefined> {
  try {
    return await varve.sessions.get(name);
  } catch (error) {
    if (error instanceof VarveError && error.code === "SESSION_NOT_FOUND") return undefined;
    throw error;
  }
}
