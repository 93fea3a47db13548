import { createHash } from "node:crypto";
import type { StoreTransaction } from "../store/index.ts";

/** A conversation of another program that is recorded from its requests, before or after its own file is imported. */
export interface RecordedConversation {
  /** The program's session id, which several of its conversations may share. */
  sessionId: string;
  /** The identity of the first text, which tells them apart. */
  start: string;
}

/** How many clients may record a conversation with one session id and one first text under ids that an import finds. */
const clientsMax = 8;

/** The session ids until the program's own file is imported and says which of its conversations it is, one per client. */
export function listRecordedIds({ sessionId, start }: RecordedConversation): string[] {
  const first = `${sessionId}.proxy-${createHash("sha256").update(start).digest("hex").slice(0, 16)}`;
  return Array.from({ length: clientsMax }, (_, index) => (index === 0 ? first : `${first}-${index + 1}`));
}

/** Chooses an id that an import of the program's file finds; undefined, for a random id, when all of them are taken. */
export async function chooseSessionId(
  tx: StoreTransaction,
  agent: string,
  recorded: RecordedConversation | undefined,
): Promise<string | undefined> {
  if (recorded === undefined) return undefined;
  const ids = listRecordedIds(recorded);
  const rows = await tx.db
    .selectFrom("transcripts")
    .select("session_id")
    .where("agent", "=", agent)
    .where("session_id", "in", ids)
    .execute();
  const taken = new Set(rows.map(({ session_id }) => session_id));
  return ids.find((id) => !taken.has(id));
}
