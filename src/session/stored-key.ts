import { lowerCaseKey, parseKeySpellings, printStoredKey, type SessionKey } from "../domain/index.ts";
import type { Store } from "../store/index.ts";

/** A session that earlier versions stored under a key in lower case. */
export interface LowerCaseSession {
  agent: string;
  key: string;
  conversation: number;
}

/** Whether what is stored of a session shows that it is the one of an id, which is spelled otherwise. */
export type ProveSpelling = (session: LowerCaseSession) => Promise<boolean>;

const sendersRead = 200;

/**
 * The key under which the session of an address is stored. Versions before case was kept wrote ids in lower case, and
 * colons and percent signs as they are. A session of theirs belongs to the lower-case id and to the spelling that its
 * messages name; any other spelling is somebody else, with a session of their own.
 */
export async function findStoredKey(
  store: Store,
  agent: string,
  key: SessionKey,
  given: string | undefined,
  proveSpelling?: ProveSpelling,
): Promise<string> {
  const now = printStoredKey(key);
  const lowered = lowerCaseKey(key);
  const literal = given?.includes("%") ? parseKeySpellings(given).slice(1).map(printStoredKey) : [];
  const earlier = [...literal, ...(lowered ? [printStoredKey(lowered)] : [])].filter((text) => text !== now);
  if (earlier.length === 0) return now;
  const rows = await store.db
    .selectFrom("sessions")
    .select(["agent", "key", "conversation"])
    .where("agent", "=", agent)
    .where("key", "in", [now, ...earlier])
    .execute();
  if (rows.length === 0 || rows.some((row) => row.key === now)) return now;
  for (const row of rows) {
    if (literal.includes(row.key)) return row.key;
    if (await isSpelledAs(store, row, key, proveSpelling)) return row.key;
  }
  return now;
}

async function isSpelledAs(
  store: Store,
  row: LowerCaseSession,
  key: SessionKey,
  proveSpelling: ProveSpelling | undefined,
): Promise<boolean> {
  // A thread of the session that all of the owner's chats share belongs to the owner, however it is spelled.
  if (key.kind === "main") return true;
  if (key.kind === "direct" && (await namesSender(store, row, key.peer))) return true;
  return (await proveSpelling?.(row)) ?? false;
}

/** Whether a message of a conversation names its sender as this id. */
async function namesSender({ db }: Store, { agent, conversation }: LowerCaseSession, id: string): Promise<boolean> {
  const rows = await db
    .selectFrom("entries")
    .select("payload")
    .where("agent", "=", agent)
    .where("conversation", "=", conversation)
    .where("kind", "=", "user")
    .orderBy("seq", "desc")
    .limit(sendersRead)
    .execute();
  return rows.some(({ payload }) => (JSON.parse(payload) as { meta?: { sender?: unknown } }).meta?.sender === id);
}
