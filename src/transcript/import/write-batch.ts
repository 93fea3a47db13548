import { createHash } from "node:crypto";
import { type EntryDraft, VarveError } from "../../domain/index.ts";
import type { EntryRow, Schema, Store, StoreTransaction } from "../../store/index.ts";
import { retryInlineOnCollision, type TranscriptRef } from "../append.ts";
import { type EncodeOptions, encodeEntry } from "../codec.ts";
import type { FileRecord } from "./records.ts";

export interface QuarantinedRecord {
  path: string;
  record: Pick<FileRecord, "number" | "text" | "bytes">;
  reason: string;
}

export interface ImportBatch {
  drafts: { ref: TranscriptRef; draft: EntryDraft & { id: string } }[];
  broken: QuarantinedRecord[];
  /** Records after this one are read again; set when the file grew. */
  wholeBefore?: number;
}

export interface ImportBatchResult {
  imported: number;
  duplicates: number;
  otherEntries: number;
  quarantined: QuarantinedRecord[];
}

/** Writes entries, quarantined records and the progress of the file atomically. */
export function writeImportBatch(
  target: EncodeOptions & { store: Store },
  agent: string,
  batch: ImportBatch,
  fileRow: (messages: number) => Schema["import_files"],
): Promise<ImportBatchResult> {
  return retryInlineOnCollision(target, (encoding) =>
    writeAtomically({ ...encoding, store: target.store }, agent, batch, fileRow),
  );
}

async function writeAtomically(
  target: EncodeOptions & { store: Store },
  agent: string,
  batch: ImportBatch,
  fileRow: (messages: number) => Schema["import_files"],
): Promise<ImportBatchResult> {
  const quarantined = [...batch.broken];
  const groups = new Map<TranscriptRef, EntryRow[]>();
  for (const { ref, draft } of batch.drafts) {
    const row = encodeOrQuarantine(target, draft, quarantined, fileRow(0).path);
    if (!row) continue;
    const rows = groups.get(ref) ?? [];
    rows.push(row);
    groups.set(ref, rows);
  }
  return target.store.transaction(async (tx) => {
    const result: ImportBatchResult = { imported: 0, duplicates: 0, otherEntries: 0, quarantined };
    for (const [{ agent: owner, conversation, transcript }, entries] of groups) {
      // The session's times show when it was used, not when it was imported.
      const now = entries.reduce((latest, entry) => Math.max(latest, entry.time), 0);
      const userEntries = entries.filter((entry) => entry.kind === "user");
      const interactionAt = userEntries.reduce((latest, entry) => Math.max(latest, entry.time), 0);
      const appended = await tx.append({ agent: owner, conversation, transcript, now, interactionAt, entries });
      await moveStartBack(tx, { agent: owner, transcript }, entries);
      for (const [index, entry] of appended.entries.entries()) {
        const isMessage = entries[index]?.countsAsMessage ?? false;
        if (entry.status === "duplicate") result.duplicates += isMessage ? 1 : 0;
        else if (isMessage) result.imported += 1;
        else result.otherEntries += 1;
      }
    }
    const row = fileRow(result.imported + result.duplicates);
    await tx.db
      .insertInto("import_files")
      .values(row)
      .onConflict((conflict) => conflict.columns(["agent", "path"]).doUpdateSet(row))
      .execute();
    // A line that was incomplete before and is complete now leaves the quarantine.
    if (batch.wholeBefore !== undefined) {
      await tx.db
        .deleteFrom("quarantine")
        .where("agent", "=", agent)
        .where("path", "=", row.path)
        .where("record", ">", batch.wholeBefore)
        .execute();
    }
    for (const item of quarantined) {
      await tx.db
        .insertInto("quarantine")
        .values(toQuarantineRow(agent, item, target.clock.now()))
        .onConflict((conflict) => conflict.columns(["agent", "id"]).doNothing())
        .execute();
    }
    return result;
  });
}

/** A session began no later than its first message, also when its file names no start. */
async function moveStartBack(
  tx: StoreTransaction,
  { agent, transcript }: Pick<TranscriptRef, "agent" | "transcript">,
  entries: readonly EntryRow[],
): Promise<void> {
  const earliest = Math.min(...entries.filter((entry) => entry.countsAsMessage).map((entry) => entry.time));
  if (!Number.isFinite(earliest)) return;
  const moved = await tx.db
    .updateTable("transcripts")
    .set({ started_at: earliest })
    .where("agent", "=", agent)
    .where("id", "=", transcript)
    .where("started_at", ">", earliest)
    .returning("session_id")
    .executeTakeFirst();
  if (!moved) return;
  await tx.db
    .updateTable("sessions")
    .set({ session_started_at: earliest, created_at: earliest })
    .where("agent", "=", agent)
    .where("session_id", "=", moved.session_id)
    .where("session_started_at", ">", earliest)
    .execute();
}

function encodeOrQuarantine(
  target: EncodeOptions,
  draft: EntryDraft & { id: string },
  quarantined: QuarantinedRecord[],
  path: string,
): EntryRow | undefined {
  try {
    return encodeEntry(draft, target);
  } catch (error) {
    if (!(error instanceof VarveError)) throw error;
    const text = JSON.stringify(draft);
    quarantined.push({ path, record: { number: 0, text }, reason: `entry ${draft.id}: ${error.message}` });
    return undefined;
  }
}

/** The raw record as JSON text, so that every byte survives on both engines. */
function toQuarantineRow(
  agent: string,
  { path, record, reason }: QuarantinedRecord,
  time: number,
): Schema["quarantine"] {
  const raw = JSON.stringify(
    record.text === undefined ? { base64: record.bytes?.toString("base64") ?? "" } : { text: record.text },
  );
  const id = createHash("sha256").update(`${path}\n${record.number}\n${raw}`).digest("hex").slice(0, 32);
  return { agent, id, path, record: record.number, reason, raw, time };
}
