import { type EntryBody, isJsonObject, type JsonObject, type JsonValue } from "../../domain/index.ts";
import type { ImportedSession, ReaderEvent } from "./reader.ts";

/** The fields of an entry other than its body. */
export interface EntryPlacement {
  id: string;
  /** Absent: the entry follows the previous one of its session. */
  parentId?: string | null;
  time: number;
  extra?: JsonObject;
}

/**
 * Tracks the sessions of a file and the newest entry of each. A session is announced before its first entry, and again
 * whenever a later record adds facts about it.
 */
export class SessionTracker {
  readonly #sessions = new Map<string, { session: ImportedSession; lastId: string | null }>();

  constructor(state?: JsonValue) {
    for (const [sessionId, known] of Object.entries(isJsonObject(state) ? state : {})) {
      if (!isJsonObject(known) || !isJsonObject(known.session)) continue;
      const session = known.session as unknown as ImportedSession;
      this.#sessions.set(sessionId, { session, lastId: typeof known.lastId === "string" ? known.lastId : null });
    }
  }

  /** Returns the event that announces a session, or none when nothing is new. */
  announce(facts: ImportedSession): ReaderEvent[] {
    const known = this.#sessions.get(facts.sessionId);
    const announced = known?.session ?? { sessionId: facts.sessionId, channel: facts.channel };
    const news = Object.entries(facts).filter(([key, value]) => {
      if (value === undefined) return false;
      // A title may change; where and when a session began is fixed by the first record that says so.
      return !Object.hasOwn(announced, key) || (key === "title" && announced.title !== value);
    });
    if (known !== undefined && news.length === 0) return [];
    const session: ImportedSession = { ...announced, ...Object.fromEntries(news) };
    this.#sessions.set(facts.sessionId, { session, lastId: known?.lastId ?? null });
    return [{ kind: "session", session }];
  }

  entry(sessionId: string, body: EntryBody, facts: EntryPlacement): ReaderEvent {
    const known = this.#sessions.get(sessionId);
    const parentId = facts.parentId === undefined ? (known?.lastId ?? null) : facts.parentId;
    if (known !== undefined) known.lastId = facts.id;
    const entry = { ...body, id: facts.id, parentId, time: facts.time };
    const extra = facts.extra !== undefined && Object.keys(facts.extra).length > 0 ? { extra: facts.extra } : {};
    const inOrder = facts.parentId === undefined ? { inOrder: true as const } : {};
    return { kind: "entry", sessionId, entry: { ...entry, ...extra }, ...inOrder };
  }

  state(): JsonObject {
    const sessions = [...this.#sessions].map(([sessionId, known]) => [sessionId, { ...known }]);
    return JSON.parse(JSON.stringify(Object.fromEntries(sessions))) as JsonObject;
  }
}
