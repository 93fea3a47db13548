import { getToolResults } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import { getEntryText, makeTitle, readEntries } from "../../transcript/index.ts";
import type { OpenedSession } from "../transcripts/import-types.ts";

/** How many of the first messages of a person are read for a title. */
const messagesRead = 12;

/** Names an imported session without a title by the first request that says something. */
export async function nameImportedSession(store: Store, ref: OpenedSession): Promise<void> {
  const named = await store.db
    .selectFrom("sessions")
    .select("display_name")
    .where("agent", "=", ref.agent)
    .where("conversation", "=", ref.conversation)
    .where("display_name", "is not", null)
    .executeTakeFirst();
  if (named) return;
  const rows = await store.db
    .selectFrom("entries")
    .select("seq")
    .where("agent", "=", ref.agent)
    .where("conversation", "=", ref.conversation)
    .where("transcript", "=", ref.transcript)
    .where("kind", "=", "user")
    .orderBy("seq")
    .limit(messagesRead)
    .execute();
  const seqs = rows.map((row) => Number(row.seq));
  for (const entry of await readEntries(store, ref.agent, seqs, "reference")) {
    const isRequest =
      entry.type === "message" && getToolResults(entry.message).length === 0 && entry.extra?.isMeta !== true;
    const title = isRequest ? makeTitle(getEntryText(entry)) : undefined;
    if (title === undefined) continue;
    await store.transaction(async ({ db }) => {
      await db
        .updateTable("transcripts")
        .set({ title })
        .where("agent", "=", ref.agent)
        .where("id", "=", ref.transcript)
        .where("title", "is", null)
        .execute();
      await db
        .updateTable("sessions")
        .set({ display_name: title })
        .where("agent", "=", ref.agent)
        .where("conversation", "=", ref.conversation)
        .where("display_name", "is", null)
        .execute();
    });
    return;
  }
}
