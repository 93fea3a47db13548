import { createHash } from "node:crypto";
import { type EntryDraft, VarveError } from "../../domain/index.ts";
import type { EntryRow, Schema, Store } from "../../store/index.ts";
import { insideWhenTaken, type TranscriptRef } from "../append.ts";
import { encodeEntry, type Sources } from "../codec.ts";
import type { FileRecord } from "./records.ts";

export interface QuarantinedRecord {
  path: string;
  record: Pick<FileRecord, "number" | "text" | "bytes">;
  reason: string;
}

export interface ImportBatch {
  drafts: { ref: TranscriptRef; draft: EntryDraft & { id: string } }[];
  broken: QuarantinedRecord[];
  /** Records behind this one are read again; set when the file grew. */
  wholeBefore?: number;
}

export interface BatchResult {
  imported: number;
  duplicates: number;
  otherEntries: number;
  quarantined: QuarantinedRecord[];
}

/** Writes a batch of entries, its broken records and how far the file was read: all of it, or nothing. */
export function writeBatch(
  host: Sources & { store: Store },
  agent: string,
  batch: ImportBatch,
  fileRow: (messages: number) => Schema["import_files"],
): Promise<BatchResult> {
  return insideWhenTaken(host, (sources) => writeOnce({ ...sources, store: host.store }, agent, batch, fileRow));
}

async function writeOnce(
  host: Sources & { store: Store },
  agent: string,
  batch: ImportBatch,
  fileRow: (messages: number) => Schema["import_files"],
): Promise<BatchResult> {
  const quarantined = [...batch.broken];
  const groups = new Map<TranscriptRef, EntryRow[]>();
  for (const { ref, draft } of batch.drafts) {
    const row = encode(host, draft, quarantined, fileRow(0).path);
    if (!row) continue;
    const rows = groups.get(ref) ?? [];
    rows.push(row);
    groups.set(ref, rows);
  }
  return host.store.transaction(async (tx) => {
    const result: BatchResult = { imported: 0, duplicates: 0, otherEntries: 0, quarantined };
    for (const [{ agent: owner, conversation, transcript }, entries] of groups) {
      // The session's clocks show when it was used, not when it was imported.
      const now = entries.reduce((latest, entry) => Math.max(latest, entry.time), 0);
      const spoken = entries.filter((entry) => entry.kind === "user");
      const interactionAt = spoken.reduce((latest, entry) => Math.max(latest, entry.time), 0);
      const appended = await tx.append({ agent: owner, conversation, transcript, now, interactionAt, entries });
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
    // A line that was broken once and is whole now leaves the quarantine.
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
        .values(quarantineRow(agent, item, host.clock.now()))
        .onConflict((conflict) => conflict.columns(["agent", "id"]).doNothing())
        .execute();
    }
    return result;
  });
}

function encode(
  host: Sources,
  draft: EntryDraft & { id: string },
  quarantined: QuarantinedRecord[],
  path: string,
): EntryRow | undefined {
  try {
    return encodeEntry(draft, host);
  } catch (error) {
    if (!(error instanceof VarveError)) throw error;
    const text = JSON.stringify(draft);
    quarantined.push({ path, record: { number: 0, text }, reason: `entry ${draft.id}: ${error.message}` });
    return undefined;
  }
}

/** The raw record as JSON text, so that every byte survives on every engine. */
function quarantineRow(agent: string, { path, record, reason }: QuarantinedRecord, time: number): Schema["quarantine"] {
  const raw = JSON.stringify(
    record.text === undefined ? { base64: record.bytes?.toString("base64") ?? "" } : { text: record.text },
  );
  const id = createHash("sha256").update(`${path}\n${record.number}\n${raw}`).digest("hex").slice(0, 32);
  return { agent, id, path, record: record.number, reason, raw, time };
}
