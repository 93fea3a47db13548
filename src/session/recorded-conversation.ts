import { createHash } from "node:crypto";
import type { StoreTransaction } from "../store/index.ts";
import type { ImportedSession, OpenedSession } from "../transcript/index.ts";

/** A conversation of another program that is recorded from its requests, before or after its own file is imported. */
export interface RecordedConversation {
  /** The program's session id, which several of its conversations may share. */
  sessionId: string;
  /** The identity of the first text, which tells them apart. */
  start: string;
}

/** The session id until the program's own file is imported and says which of its conversations it is. */
function printRecordedId({ sessionId, start }: RecordedConversation): string {
  return `${sessionId}.proxy-${createHash("sha256").update(start).digest("hex").slice(0, 16)}`;
}

/** Returns undefined, for a random id, when another client records a conversation with the same start. */
export async function chooseSessionId(
  tx: StoreTransaction,
  agent: string,
  recorded: RecordedConversation | undefined,
): Promise<string | undefined> {
  if (recorded === undefined) return undefined;
  const sessionId = printRecordedId(recorded);
  const taken = await tx.db
    .selectFrom("transcripts")
    .select("id")
    .where("agent", "=", agent)
    .where("session_id", "=", sessionId)
    .executeTakeFirst();
  return taken ? undefined : sessionId;
}

/** Gives the conversation that was recorded from requests the session id of its file, which continues it from then on. */
export async function adoptRecorded(
  tx: StoreTransaction,
  { sessionId, parentSessionId, starts = [] }: ImportedSession,
  agent: string,
  parentKey: string | null,
): Promise<OpenedSession | undefined> {
  const ids = starts.map((start) => printRecordedId({ sessionId: parentSessionId ?? sessionId, start }));
  if (ids.length === 0) return undefined;
  const rows = await tx.db
    .selectFrom("transcripts")
    .select(["id", "conversation", "session_id"])
    .where("agent", "=", agent)
    .where("session_id", "in", ids)
    .execute();
  const found = rows.sort((a, b) => ids.indexOf(a.session_id) - ids.indexOf(b.session_id))[0];
  if (!found) return undefined;
  const renamed = { session_id: sessionId };
  const { session_id: recordedId } = found;
  await tx.db
    .updateTable("transcripts")
    .set({ ...renamed, parent_session: parentSessionId ?? null })
    .where("agent", "=", agent)
    .where("id", "=", found.id)
    .execute();
  await tx.db
    .updateTable("sessions")
    .set({ ...renamed, parent_key: parentKey })
    .where("agent", "=", agent)
    .where("session_id", "=", recordedId)
    .execute();
  for (const table of ["notices", "memory_sources"] as const) {
    await tx.db
      .updateTable(table)
      .set(renamed)
      .where("agent", "=", agent)
      .where("session_id", "=", recordedId)
      .execute();
  }
  return { agent, conversation: found.conversation, transcript: found.id, empty: false };
}
