import type { EntryDraft } from "../../domain/index.ts";
import { appendEntries } from "../../transcript/index.ts";
import type { ImportReport, ImportTarget } from "./import-types.ts";
import { getQuarantineId, type QuarantinedRecord, quarantineRecords, releaseRecords } from "./write-batch.ts";

/** A title for the session that has a certain entry, which may be in a file that is read later. */
export interface PendingTitle extends Pick<QuarantinedRecord, "path" | "record"> {
  entryId: string;
  title: string;
  /** The record as an entry of that session. */
  entry: EntryDraft & { id: string };
}

/**
 * Gives titles to the sessions that have the entries they name. A title of an unknown entry is quarantined, and its file
 * is read again by the next import.
 */
export async function applyTitles(
  target: ImportTarget,
  agent: string,
  titles: readonly PendingTitle[],
  report: ImportReport,
): Promise<void> {
  const lost: (QuarantinedRecord & PendingTitle)[] = [];
  for (const title of titles) {
    const owner = await findOwner(target, agent, title.entryId);
    if (owner === undefined) {
      lost.push({ ...title, reason: `it is a title for the message ${title.entryId}, which is in no imported file` });
      continue;
    }
    const ref = { agent, conversation: owner.conversation, transcript: owner.transcript, empty: false };
    const parentId = undefined;
    const written = await appendEntries(target.store, ref, [{ ...title.entry, parentId }]);
    report.otherEntries += written.appended;
    await target.describeSession({ sessionId: owner.sessionId, channel: "", title: title.title }, ref);
    await target.store.transaction((tx) => releaseRecords(tx, agent, [getQuarantineId(title)]));
  }
  if (lost.length === 0) return;
  await target.store.transaction(async (tx) => {
    await quarantineRecords(tx, agent, lost);
    for (const path of new Set(lost.map((title) => title.path))) {
      await tx.db
        .updateTable("import_files")
        .set({ size: -1, mtime: -1, state: null })
        .where("agent", "=", agent)
        .where("path", "=", path)
        .execute();
    }
  });
  report.quarantined += lost.length;
  report.broken.push(...lost.map(({ path, record, reason }) => ({ path, record: record.number, reason })));
}

async function findOwner({ store }: ImportTarget, agent: string, entryId: string) {
  const { db } = store;
  // By conversation, because entries are indexed by it.
  return db
    .selectFrom("entries")
    .innerJoin("transcripts", (join) =>
      join.onRef("transcripts.agent", "=", "entries.agent").onRef("transcripts.id", "=", "entries.transcript"),
    )
    .select(["entries.conversation", "entries.transcript", "transcripts.session_id as sessionId"])
    .where("entries.agent", "=", agent)
    .where("entries.conversation", "in", db.selectFrom("conversations").select("id").where("agent", "=", agent))
    .where("entries.id", "=", entryId)
    .limit(1)
    .executeTakeFirst();
}
