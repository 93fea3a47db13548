import { createHash } from "node:crypto";
import { type EntryDraft, VarveError } from "../../domain/index.ts";
import type { EntryRow, Schema, Store, StoreTransaction } from "../../store/index.ts";
import {
  createSecretStatements,
  type EncodeOptions,
  encodeEntry,
  retryInlineOnCollision,
  setHead,
  type TranscriptRef,
} from "../../transcript/index.ts";
import type { OpenedSession } from "./import-types.ts";
import type { FileRecord } from "./records.ts";

export interface QuarantinedRecord {
  path: string;
  record: Pick<FileRecord, "number" | "text" | "bytes">;
  reason: string;
}

type ImportedRef = TranscriptRef & Pick<OpenedSession, "statesInteraction">;

export interface ImportBatch {
  drafts: { ref: ImportedRef; draft: EntryDraft & { id: string } }[];
  broken: QuarantinedRecord[];
  /** Quarantined rows of lines that were incomplete; they are read again now. */
  released?: string[];
  /** Where conversations continue from, when that is not the last entry appended. */
  heads?: { ref: TranscriptRef; headId: string }[];
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
  return retryInlineOnCollision({ ...target, capture: target.store.capture }, (encoding) =>
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
  const groups = new Map<ImportedRef, EntryRow[]>();
  for (const { ref, draft } of batch.drafts) {
    const row = encodeOrQuarantine(target, draft, quarantined, fileRow(0).path);
    if (!row) continue;
    const rows = groups.get(ref) ?? [];
    rows.push(row);
    groups.set(ref, rows);
  }
  return target.store.transaction(async (tx) => {
    const result: ImportBatchResult = { imported: 0, duplicates: 0, otherEntries: 0, quarantined };
    for (const [{ agent: owner, conversation, transcript, statesInteraction }, entries] of groups) {
      // The session's times show when it was used, not when it was imported.
      const now = entries.reduce((latest, entry) => Math.max(latest, entry.time), 0);
      const userEntries = statesInteraction ? [] : entries.filter((entry) => entry.kind === "user");
      const interactionAt = userEntries.reduce((latest, entry) => Math.max(latest, entry.time), 0);
      const attached = createSecretStatements(tx, owner, entries);
      const appended = await tx.append({
        agent: owner,
        conversation,
        transcript,
        now,
        interactionAt,
        entries,
        attached,
      });
      await moveStartBack(tx, { agent: owner, transcript }, entries);
      for (const [index, entry] of appended.entries.entries()) {
        const isMessage = entries[index]?.countsAsMessage ?? false;
        if (entry.status === "duplicate") result.duplicates += isMessage ? 1 : 0;
        else if (isMessage) result.imported += 1;
        else result.otherEntries += 1;
      }
    }
    for (const { ref, headId } of batch.heads ?? []) await moveHeadTo(tx, ref, headId);
    const row = fileRow(result.imported + result.duplicates);
    const { agent: _agent, path: _path, ...changed } = row;
    await tx.db
      .insertInto("import_files")
      .values(row)
      .onConflict((conflict) => conflict.columns(["agent", "path"]).doUpdateSet(changed))
      .execute();
    // A line that was incomplete before and is complete now leaves the quarantine.
    if (batch.released && batch.released.length > 0) await releaseRecords(tx, agent, batch.released);
    await quarantineRecords(tx, agent, quarantined);
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

export async function quarantineRecords(
  tx: StoreTransaction,
  agent: string,
  records: readonly QuarantinedRecord[],
): Promise<void> {
  for (const item of records) {
    await tx.db
      .insertInto("quarantine")
      .values(toQuarantineRow(agent, item, tx.clock.now()))
      .onConflict((conflict) => conflict.columns(["agent", "id"]).doNothing())
      .execute();
  }
}

export async function releaseRecords(tx: StoreTransaction, agent: string, ids: readonly string[]): Promise<void> {
  await tx.db.deleteFrom("quarantine").where("agent", "=", agent).where("id", "in", ids).execute();
}

async function moveHeadTo(tx: StoreTransaction, ref: TranscriptRef, id: string): Promise<void> {
  const entry = await tx.db
    .selectFrom("entries")
    .select(["branch", "seq"])
    .where("agent", "=", ref.agent)
    .where("conversation", "=", ref.conversation)
    .where("id", "=", id)
    .executeTakeFirst();
  if (entry) await setHead(tx, ref, entry);
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
  const id = getQuarantineId({ path, record });
  return { agent, id, path, record: record.number, reason, raw: encodeRaw(record), time };
}

function encodeRaw(record: QuarantinedRecord["record"]): string {
  return JSON.stringify(
    record.text === undefined ? { base64: record.bytes?.toString("base64") ?? "" } : { text: record.text },
  );
}

/** The id of a record in the quarantine: the same record of the same file is there once. */
export function getQuarantineId({ path, record }: Pick<QuarantinedRecord, "path" | "record">): string {
  return createHash("sha256")
    .update(`${path}\n${record.number}\n${encodeRaw(record)}`)
    .digest("hex")
    .slice(0, 32);
}
