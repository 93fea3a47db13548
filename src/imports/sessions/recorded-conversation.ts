import type { StoreTransaction } from "../../store/index.ts";
import type { OpenedSession } from "../transcripts/import-types.ts";
import type { ImportedSession } from "../transcripts/reader.ts";

/** Gives the conversation that was recorded from requests the session id of its file, which continues it from then on. */
export async function adoptRecorded(
  tx: StoreTransaction,
  { sessionId, parentSessionId, recordedIds: ids = [] }: ImportedSession,
  agent: string,
  parentKey: string | null,
): Promise<OpenedSession | undefined> {
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
  // The file is the owner's own, so what was recorded of it belongs to the owner too.
  await tx.db
    .updateTable("sessions")
    .set({ ...renamed, parent_key: parentKey, audience: null, door: "owner" })
    .where("agent", "=", agent)
    .where("session_id", "=", recordedId)
    .execute();
  await tx.db
    .updateTable("conversations")
    .set({ audience: null })
    .where("agent", "=", agent)
    .where("id", "=", found.conversation)
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
