import { type Clock, type JsonObject, type Message, type Role, systemClock, VarveError } from "../domain/index.ts";
import type { Session, Varve } from "../index.ts";
import { type ManagerOptions, SharedEngine } from "./engine.ts";

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

  constructor(options: SessionManagerOptions = {}) {
    this.#engine = new SharedEngine(options);
    this.#clock = ("clock" in options ? options.clock : undefined) ?? systemClock;
    this.#maxAgeMs = options.sessionMaxAgeMs ?? fourHoursMs;
  }

  /** Returns the session of a user: creates it when there is none, renews it when it is too old. */
  async getOrCreate(channel: string, userId: string): Promise<ManagedSession> {
    const varve = await this.#engine.open();
    const key = createKey(varve, channel, userId);
    const known = await findSession(varve, key);
    const quietMs = known === undefined ? 0 : this.#clock.now() - known.lastInteractionAt;
    const { session } = await varve.sessions.open({ key });
    if (known === undefined || quietMs <= this.#maxAgeMs) return toManagedSession(session);
    return toManagedSession(await varve.sessions.renew(session, "new"));
  }

  /** Returns the newest `limit` messages of a session id, oldest first. */
  async loadTranscript(sessionId: string, limit = defaultLimit): Promise<TranscriptMessage[]> {
    const varve = await this.#engine.open();
    const session = await varve.sessions.get(sessionId);
    const found: TranscriptMessage[] = [];
    for (let before: number | undefined; found.length < limit; ) {
      const page = await varve.transcripts.read(session, { limit: pageMax, before, currentOnly: true });
      const messages = page.entries.flatMap((entry): TranscriptMessage[] => {
        if (entry.type !== "message") return [];
        const { role, content, meta } = entry.message;
        return [{ id: entry.id, role, content, time: entry.time, ...(meta === undefined ? {} : { meta }) }];
      });
      found.unshift(...messages);
      before = page.before;
      if (before === undefined) break;
    }
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
    const session = await varve.sessions.get(sessionId);
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
    return toManagedSession(await varve.sessions.renew(await varve.sessions.get(sessionId), "new"));
  }

  /** Returns a session by its id or its key; undefined when there is none. */
  async getSession(sessionIdOrKey: string): Promise<ManagedSession | undefined> {
    const varve = await this.#engine.open();
    const [channel, ...rest] = sessionIdOrKey.split(":");
    const isPair = channel !== undefined && rest.length > 0 && channel !== "agent";
    const session = await findSession(varve, isPair ? createKey(varve, channel, rest.join(":")) : sessionIdOrKey);
    return session && toManagedSession(session);
  }

  /** Returns the sessions of all users, most recently used first. */
  async listSessions(options: { channel?: string; limit?: number } = {}): Promise<ManagedSession[]> {
    const varve = await this.#engine.open();
    const { sessions } = await varve.sessions.list(options);
    return sessions.filter((session) => parseKey(session) !== undefined).map(toManagedSession);
  }

  /** Replaces the messages in the context by a summary; every message stays stored and searchable. */
  async compactSession(sessionId: string, summary: string): Promise<ManagedSession> {
    if (summary.trim() === "") {
      throw new VarveError("BAD_REQUEST", "The summary is empty.", { remedy: "Pass a summary of the session." });
    }
    const varve = await this.#engine.open();
    const session = await varve.sessions.get(sessionId);
    await varve.context.compact(session, { summary });
    return toManagedSession(await varve.sessions.get(session.key, session.agent));
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}

/** Every channel and user has its own conversation here; `session.dmScope` is not used. */
function createKey(varve: Varve, channel: string, userId: string): string {
  return `agent:${varve.settings.config.agent}:${channel}:direct:${userId}`;
}

function parseKey({ key }: Session): { channel: string; userId: string } | undefined {
  const [, channel, userId] = /^agent:[^:]+:([^:]+):direct:(.+)$/.exec(key) ?? [];
  return channel === undefined || userId === undefined ? undefined : { channel, userId };
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
