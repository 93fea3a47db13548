import { createHash } from "node:crypto";
import { closeSync, openSync, readSync, statSync } from "node:fs";
import type { EntryDraft, JsonValue } from "../../domain/index.ts";
import { moveHead } from "../branch.ts";
import { readTail } from "../read.ts";
import type { ImportOptions, ImportReport, ImportTarget, OpenedSession } from "./import-types.ts";
import { findLegacySessions, type LegacySession } from "./legacy.ts";
import type { ImportedSession, ReaderEvent, RecordReader, SourceFormat } from "./reader.ts";
import { type FileRecord, readArray, readLines } from "./records.ts";
import { type QuarantinedRecord, writeImportBatch } from "./write-batch.ts";

/** The resume state of a file, in addition to its columns. */
interface FileState {
  /** Absent when the reader can only start at the beginning of the file. */
  reader?: JsonValue;
  tips: Record<string, Tip>;
}

/** The newest entries of a session in a file: the last one that is not state, and the last one of all. */
interface Tip {
  said: string;
  last: string;
}

/** Imports one file: decides where to start, reads records, and writes them in batches. */
export class FileImporter {
  private readonly target: ImportTarget;
  private readonly options: ImportOptions;
  private readonly format: SourceFormat;
  private readonly file: string;
  private readonly report: ImportReport;
  private readonly sessions: Set<string>;
  private readonly onPosition: (position: number) => void;
  private readonly opened = new Map<string, OpenedSession>();
  private readonly announced = new Map<string, ImportedSession>();
  private readonly legacy: Map<string, LegacySession>;
  private tips = new Map<string, Tip>();
  private pending: { ref: OpenedSession; draft: EntryDraft & { id: string } }[] = [];
  private quarantine: QuarantinedRecord[] = [];
  private reader: RecordReader | undefined;
  private messages = 0;
  /** Records up to here were complete when the file was last read; a later one may have been half a line. */
  private wholeBefore: number | undefined;
  private last: { record: number; start: number; end: number; hash: string } = {
    record: 0,
    start: 0,
    end: 0,
    hash: "",
  };

  constructor(
    target: ImportTarget,
    options: ImportOptions,
    format: SourceFormat,
    file: string,
    report: ImportReport,
    sessions: Set<string>,
    onPosition: (position: number) => void,
  ) {
    this.target = target;
    this.options = options;
    this.format = format;
    this.file = file;
    this.report = report;
    this.sessions = sessions;
    this.onPosition = onPosition;
    this.legacy = findLegacySessions(file);
  }

  async run(): Promise<void> {
    const stat = statSync(this.file);
    const known = await this.findImportedFile();
    if (known && known.size === stat.size && known.mtime === Math.trunc(stat.mtimeMs)) {
      this.report.duplicates += known.messages;
      for (const id of this.listSessions(known.state)) this.sessions.add(id);
      return;
    }
    const state = known?.state ? (JSON.parse(known.state) as FileState) : undefined;
    const resumed = state?.reader !== undefined && known && this.isContinuation(known, stat.size) ? known : undefined;
    if (resumed && state) {
      this.tips = new Map(Object.entries(state.tips));
      this.messages = resumed.messages;
      this.wholeBefore = resumed.records;
      this.report.duplicates += resumed.messages;
      this.last = {
        record: resumed.records,
        start: resumed.last_start,
        end: resumed.position,
        hash: resumed.last_hash,
      };
      this.openReader(stat.mtimeMs, state.reader);
    } else this.openReader(stat.mtimeMs);
    const records =
      this.format.layout === "array"
        ? readArray(this.file, this.options.signal)
        : readLines(this.file, { byte: this.last.end, number: this.last.record }, this.options.signal);
    for await (const record of records) {
      await this.importRecord(record);
      if (this.pending.length < this.options.batchSize) continue;
      await this.flush(stat);
      this.options.signal?.throwIfAborted();
    }
    await this.flush(stat);
    await this.moveHeads();
  }

  /** An export may name the entry its conversation continues from; it is not always the last line. */
  private async moveHeads(): Promise<void> {
    for (const { sessionId, head } of this.announced.values()) {
      const ref = this.opened.get(sessionId);
      if (head === undefined || ref === undefined) continue;
      const page = await readTail(this.target.store, ref, { limit: 1 });
      if (page.entries[0]?.id !== head) await moveHead(this.target.store, ref, head);
    }
  }

  private findImportedFile() {
    return this.target.store.db
      .selectFrom("import_files")
      .selectAll()
      .where("agent", "=", this.options.agent)
      .where("path", "=", this.file)
      .executeTakeFirst();
  }

  private listSessions(state: string | null): string[] {
    return state === null ? [] : Object.keys((JSON.parse(state) as FileState).tips);
  }

  private openReader(mtimeMs: number, state?: JsonValue): void {
    this.reader = this.format.open({ path: this.file, fileTime: Math.trunc(mtimeMs), state });
  }

  /** A file that grew still has the last record at the same place; a rewritten file does not. */
  private isContinuation(known: { position: number; last_start: number; last_hash: string }, size: number): boolean {
    if (this.format.layout !== "lines" || size < known.position || known.position <= known.last_start) return false;
    const handle = openSync(this.file, "r");
    try {
      const bytes = Buffer.alloc(known.position - known.last_start);
      readSync(handle, bytes, 0, bytes.length, known.last_start);
      return hashText(bytes.toString("utf8").replace(/\r?\n$/, "")) === known.last_hash;
    } finally {
      closeSync(handle);
    }
  }

  private async importRecord(record: FileRecord): Promise<void> {
    const events = this.readRecord(record);
    const bad = events.find((event) => event.kind === "bad");
    // A last line without a line end may still be growing: it is read again later.
    const unfinished = !record.complete && bad !== undefined;
    for (const event of events) await this.apply(event, record);
    if (!unfinished && this.format.layout === "lines") {
      this.last = { record: record.number, start: record.start, end: record.end, hash: hashText(record.text ?? "") };
    }
  }

  private readRecord(record: FileRecord): ReaderEvent[] {
    if (record.text === undefined)
      return [{ kind: "bad", reason: "the record is not valid UTF-8, or longer than 400 MB" }];
    const events = this.reader?.read(record.text, record.number) ?? [];
    return events.length > 0 ? events : [{ kind: "bad", reason: "the record has no content that this format knows" }];
  }

  private async apply(event: ReaderEvent, record: FileRecord): Promise<void> {
    if (event.kind === "session") await this.announce(event.session);
    else if (event.kind === "bad") this.quarantine.push({ path: this.file, record, reason: event.reason });
    else {
      const ref = await this.open(event.sessionId);
      const draft = this.resolvePlace(event.sessionId, ref, event.entry);
      ref.empty = false;
      this.pending.push({ ref, draft });
    }
  }

  /** A later record may add facts about a session, such as its title. */
  private async announce(session: ImportedSession): Promise<void> {
    this.announced.set(session.sessionId, session);
    const ref = this.opened.get(session.sessionId);
    if (ref) await this.target.describeSession(session, ref);
  }

  private async open(sessionId: string): Promise<OpenedSession> {
    this.sessions.add(sessionId);
    const known = this.opened.get(sessionId);
    if (known) return known;
    const announced = this.announced.get(sessionId) ?? { sessionId, channel: this.format.name };
    const ref = await this.target.openSession(announced, this.options.agent, this.legacy.get(sessionId));
    this.opened.set(sessionId, ref);
    return ref;
  }

  /**
   * Decides the parent of an entry. State entries (settings, markers) lie between messages that name each other as
   * parents: they stay where they are, and the message after them continues the branch instead of starting one.
   */
  private resolvePlace<T extends EntryDraft & { id: string }>(sessionId: string, ref: OpenedSession, draft: T): T {
    const tip = this.tips.get(sessionId);
    const isState = draft.type === "custom" || draft.type === "label" || draft.type === "model_change";
    this.tips.set(sessionId, { said: isState && tip ? tip.said : draft.id, last: draft.id });
    const { parentId } = draft;
    const continues =
      parentId === undefined ||
      (tip !== undefined && (parentId === tip.said || parentId === tip.last)) ||
      (parentId === null && (isState || ref.empty));
    return continues ? { ...draft, parentId: undefined } : draft;
  }

  private async flush(stat: { size: number; mtimeMs: number }): Promise<void> {
    const reader = this.reader?.state();
    const state: FileState = { reader, tips: Object.fromEntries(this.tips) };
    const whole = this.format.layout === "array" || this.last.end >= stat.size;
    const batch = { drafts: this.pending, broken: this.quarantine, wholeBefore: this.wholeBefore };
    const written = await writeImportBatch(this.target, this.options.agent, batch, (messages) => ({
      agent: this.options.agent,
      path: this.file,
      source: this.format.name,
      // Until the whole file is imported, size and time are left open, so that the next run reads it again.
      size: whole ? stat.size : -1,
      mtime: whole ? Math.trunc(stat.mtimeMs) : -1,
      position: this.last.end,
      records: this.last.record,
      messages: this.messages + messages,
      last_hash: this.last.hash,
      last_start: this.last.start,
      state: JSON.stringify(state),
      updated_at: this.target.clock.now(),
    }));
    this.messages += written.imported + written.duplicates;
    this.report.imported += written.imported;
    this.report.duplicates += written.duplicates;
    this.report.otherEntries += written.otherEntries;
    this.report.quarantined += written.quarantined.length;
    for (const { path, record, reason } of written.quarantined) {
      this.report.broken.push({ path, record: record.number, reason });
    }
    if (this.wholeBefore !== undefined) this.wholeBefore = this.last.record;
    this.pending = [];
    this.quarantine = [];
    this.onPosition(this.last.end);
  }
}

function hashText(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
