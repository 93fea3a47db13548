import { createHash } from "node:crypto";
import type { EntryDraft, JsonValue } from "../../domain/index.ts";
import { moveHead, readTail } from "../../transcript/index.ts";
import type { ImportOptions, ImportReport, ImportTarget, OpenedSession } from "./import-types.ts";
import { findLegacySessions, type LegacySession } from "./legacy.ts";
import type { PendingTitle } from "./pending-titles.ts";
import { KnownSession, type PlacedDraft, type Tip } from "./place-entries.ts";
import type { ImportedSession, ReaderEvent, RecordReader, SourceFormat } from "./reader.ts";
import {
  type ConversationStart,
  collectStart,
  findRecordedIds,
  isRecorded,
  RecordedSession,
} from "./recorded-session.ts";
import { type FileRecord, hashRecord } from "./records.ts";
import type { TranscriptSource } from "./transcript-source.ts";
import { getQuarantineId, type QuarantinedRecord, writeImportBatch } from "./write-batch.ts";

/** The resume state of a file, in addition to its columns. */
interface FileState {
  /** Absent when the reader can only start at the beginning of the file. */
  reader?: JsonValue;
  tips: Record<string, Tip>;
  /** The name of a file's session whose records do not name it. */
  name?: string;
  /** The last line as far as it was written; it is read again when the file has grown. */
  unfinished?: UnfinishedRecord;
  /** Where another program continues to read the source. */
  checkpoint?: string;
}

interface UnfinishedRecord {
  start: number;
  length: number;
  hash: string;
  /** The row of the quarantine that has it. */
  quarantineId: string;
}

/** Imports one file: decides where to start, reads records, and writes them in batches. */
export class FileImporter {
  private readonly target: ImportTarget;
  private readonly options: ImportOptions;
  private readonly format: SourceFormat;
  private readonly source: TranscriptSource;
  private readonly file: string;
  private readonly report: ImportReport;
  private readonly sessions: Set<string>;
  private readonly onPosition: (position: number) => void;
  private readonly onTitle: (title: PendingTitle) => void;
  private readonly opened = new Map<string, OpenedSession>();
  private readonly announced = new Map<string, ImportedSession>();
  private readonly legacy: ReadonlyMap<string, LegacySession>;
  private tips = new Map<string, Tip>();
  /** The sessions that had entries before this file was read from its start. */
  private readonly known = new Map<string, KnownSession>();
  /** Those of them that have messages from the program's requests. */
  private readonly recorded = new Map<string, RecordedSession>();
  /** Where the file ended when it was last read, when it is now read from its start. */
  private previousTips: Record<string, Tip> = {};
  /** The ids of sessions whose own ids belong to sessions of other sources. */
  private readonly ownIds = new Map<string, string>();
  private pending: (PlacedDraft & { sessionId: string; ref: OpenedSession })[] = [];
  private quarantine: QuarantinedRecord[] = [];
  private readonly name: string | undefined;
  private unfinished: UnfinishedRecord | undefined;
  /** The quarantined row of a last line that was incomplete and is read again now. */
  private released: string[] = [];
  private resumed = false;
  private reader: RecordReader | undefined;
  private messages = 0;
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
    source: TranscriptSource,
    report: ImportReport,
    sessions: Set<string>,
    onPosition: (position: number) => void,
    onTitle: (title: PendingTitle) => void,
    name?: string,
  ) {
    this.onTitle = onTitle;
    this.name = name;
    this.target = target;
    this.options = options;
    this.format = format;
    this.source = source;
    this.file = source.path;
    this.report = report;
    this.sessions = sessions;
    this.onPosition = onPosition;
    this.legacy = source.sessions ?? findLegacySessions(source.path);
  }

  async run(): Promise<void> {
    const stat = this.source.measure();
    const known = await this.findImportedFile();
    if (known && known.size === stat.size && known.mtime === Math.trunc(stat.mtimeMs)) {
      this.report.duplicates += known.messages;
      for (const id of this.listSessions(known.state)) this.sessions.add(id);
      return;
    }
    if (this.options.waitForReply && this.format.mayBeRecorded && !known && !(await this.hasReply())) return;
    const state = known?.state ? (JSON.parse(known.state) as FileState) : undefined;
    const resumes = await this.source.resume?.(
      state?.reader === undefined || !known
        ? undefined
        : {
            checkpoint: state.checkpoint,
            lastStart: known.last_start,
            position: known.position,
            lastHash: known.last_hash,
          },
    );
    if (resumes === "same") return;
    const isContinued =
      state?.reader !== undefined &&
      known &&
      (resumes === undefined ? this.isContinuation(known, stat.size) : resumes === "grown");
    // Lines that were recorded from requests are known by what precedes them.
    const resumed = isContinued && !(await this.areRecorded(Object.keys(state.tips))) ? known : undefined;
    if (resumed && state) {
      this.tips = new Map(Object.entries(state.tips));
      this.resumed = true;
      this.messages = resumed.messages;
      this.report.duplicates += resumed.messages;
      this.last = {
        record: resumed.records,
        start: resumed.last_start,
        end: resumed.position,
        hash: resumed.last_hash,
      };
      this.openReader(stat.mtimeMs, state.reader);
    } else {
      this.previousTips = state?.tips ?? {};
      this.openReader(stat.mtimeMs);
    }
    if (state?.unfinished && this.hasStill(state.unfinished, stat.size))
      this.released = [state.unfinished.quarantineId];
    for await (const record of this.source.read(this.last, this.options.signal)) {
      await this.importRecord(record);
      if (this.pending.length < this.options.batchSize) continue;
      await this.flush(stat);
      this.options.signal?.throwIfAborted();
    }
    for (const event of this.reader?.finish?.() ?? []) await this.apply(event, { number: this.last.record });
    await this.openEmptySession();
    await this.openResetSession();
    await this.flush(stat, true);
    await this.moveHeads();
  }

  private async hasReply(): Promise<boolean> {
    const reader = this.format.open({ path: this.file, name: this.name, fileTime: 0 });
    for await (const record of this.source.read({ record: 0, end: 0 }, this.options.signal)) {
      const events = record.text === undefined ? [] : reader.read(record.text, record.number);
      if (events.some((event) => event.kind === "entry" && isReply(event.entry))) return true;
    }
    return false;
  }

  private async areRecorded(sessionIds: readonly string[]): Promise<boolean> {
    return this.format.mayBeRecorded === true && isRecorded(this.target.store, this.options.agent, sessionIds);
  }

  /** The first texts and replies of a session, by which its requests are known. */
  private async readStart(sessionId: string): Promise<ConversationStart> {
    const reader = this.format.open({ path: this.file, name: this.name, fileTime: 0 });
    const start: ConversationStart = { texts: [], replies: [] };
    for await (const record of this.source.read({ record: 0, end: 0 }, this.options.signal)) {
      const events = record.text === undefined ? [] : reader.read(record.text, record.number);
      if (events.some((event) => collectStart(start, event, sessionId))) break;
    }
    return start;
  }

  private async findRecordedIds({ sessionId, parentSessionId }: ImportedSession): Promise<string[]> {
    if (!this.format.mayBeRecorded || this.resumed) return [];
    const start = await this.readStart(sessionId);
    return findRecordedIds(this.target.store, this.options.agent, parentSessionId ?? sessionId, start);
  }

  /** A session of a store without a message still has its settings. */
  private async openEmptySession(): Promise<void> {
    const [only, ...others] = this.source.sessions?.values() ?? [];
    if (only && others.length === 0 && !only.archived) await this.open(only.sessionId);
  }

  /** A reset at the end of the file begins a session that has no message yet. */
  private async openResetSession(): Promise<void> {
    const last = [...this.announced.values()].at(-1);
    if (last?.continues !== undefined && !this.opened.has(last.sessionId)) await this.open(last.sessionId);
  }

  /** Whether a later line of the file is stored already: reads ahead, up to the first one. */
  private async hasKnownLine(sessionId: string, ref: OpenedSession): Promise<boolean> {
    const reader = this.format.open({ path: this.file, name: this.name, fileTime: 0 });
    let ids: string[] = [];
    const anyKnown = async () => {
      const found = await this.target.store.db
        .selectFrom("entries")
        .select("id")
        .where("agent", "=", ref.agent)
        .where("conversation", "=", ref.conversation)
        .where("id", "in", ids)
        .limit(1)
        .executeTakeFirst();
      ids = [];
      return found !== undefined;
    };
    for await (const record of this.source.read({ record: 0, end: 0 }, this.options.signal)) {
      for (const event of record.text === undefined ? [] : reader.read(record.text, record.number)) {
        if (event.kind === "entry" && event.sessionId === sessionId) ids.push(event.entry.id);
      }
      if (ids.length >= this.options.batchSize && (await anyKnown())) return true;
    }
    return ids.length > 0 && (await anyKnown());
  }

  /** Whether a half-written line is still where it was, so that reading on includes it. */
  private hasStill({ start, length, hash }: UnfinishedRecord, size: number): boolean {
    const bytes = size >= start + length ? this.source.readBytes(start, length) : undefined;
    return bytes !== undefined && hashBytes(bytes) === hash;
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
    this.reader = this.format.open({ path: this.file, name: this.name, fileTime: Math.trunc(mtimeMs), state });
  }

  /** A file that grew still has the last record at the same place; a rewritten file does not. */
  private isContinuation(known: { position: number; last_start: number; last_hash: string }, size: number): boolean {
    if (this.format.layout !== "lines" || size < known.position || known.position <= known.last_start) return false;
    const bytes = this.source.readBytes(known.last_start, known.position - known.last_start);
    return bytes !== undefined && hashRecord(bytes.toString("utf8").replace(/\r?\n$/, "")) === known.last_hash;
  }

  private async importRecord(record: FileRecord): Promise<void> {
    const events = this.readRecord(record);
    const bad = events.find((event) => event.kind === "bad");
    // A last line without a line end may still be growing: it is read again later.
    const unfinished = !record.complete && bad !== undefined;
    for (const event of events) await this.apply(event, record);
    if (unfinished && this.format.layout === "lines") this.unfinished = this.describeUnfinished(record);
    if (!unfinished && this.format.layout === "lines") {
      this.last = { record: record.number, start: record.start, end: record.end, hash: hashRecord(record.text ?? "") };
    }
  }

  private describeUnfinished(record: FileRecord): UnfinishedRecord | undefined {
    const { start, end } = record;
    const quarantineId = getQuarantineId({ path: this.file, record });
    const bytes = this.source.readBytes(start, end - start);
    return bytes && { start, length: end - start, hash: hashBytes(bytes), quarantineId };
  }

  private readRecord(record: FileRecord): ReaderEvent[] {
    if (record.text === undefined)
      return [{ kind: "bad", reason: "the record is not valid UTF-8, or longer than 400 MB" }];
    const events = this.reader?.read(record.text, record.number) ?? [];
    return events.length > 0 ? events : [{ kind: "bad", reason: "the record has no content that this format knows" }];
  }

  private async apply(event: ReaderEvent, record: Pick<FileRecord, "number" | "text" | "bytes">): Promise<void> {
    if (event.kind === "session") await this.announce(event.session);
    else if (event.kind === "bad") this.quarantine.push({ path: this.file, record, reason: event.reason });
    else if (event.kind === "title") this.onTitle({ ...event, path: this.file, record });
    else if (event.kind === "entry") {
      const { sessionId } = event;
      const ref = await this.open(sessionId);
      const draft = this.known.has(sessionId) ? event.entry : this.resolvePlace(sessionId, ref, event.entry);
      ref.empty = false;
      this.pending.push({ ref, sessionId, draft, inOrder: event.inOrder === true });
    }
  }

  /** A later record may add facts about a session, such as its title. */
  private async announce(session: ImportedSession): Promise<void> {
    this.announced.set(session.sessionId, session);
    const ref = this.opened.get(session.sessionId);
    const ownId = this.ownIds.get(session.sessionId) ?? session.sessionId;
    if (ref) await this.target.describeSession({ ...session, sessionId: ownId }, ref);
  }

  private async open(sessionId: string): Promise<OpenedSession> {
    this.sessions.add(sessionId);
    const known = this.opened.get(sessionId);
    if (known) return known;
    const announced = this.announced.get(sessionId) ?? { sessionId, channel: this.format.name };
    if (announced.continues !== undefined) {
      // The end of the session before it must be stored first.
      await this.open(announced.continues.sessionId);
      await this.flush(this.source.measure());
    }
    const found = { ...announced, recordedIds: await this.findRecordedIds(announced) };
    const named = await this.target.openSession(found, this.options.agent, this.legacy.get(getFirstId(announced)));
    const ref = named.isForeign ? await this.openApart(found, named) : named;
    this.opened.set(sessionId, ref);
    if (announced.continues !== undefined && ref.empty) {
      this.tips.set(sessionId, { said: announced.continues.resetId, last: sessionId });
    }
    if (!ref.empty && !this.resumed) {
      const previous = this.previousTips[sessionId];
      const lookAhead = () => this.hasKnownLine(sessionId, ref);
      this.known.set(sessionId, await KnownSession.open(this.target.store, ref, sessionId, previous, lookAhead));
      if (await this.areRecorded([sessionId]))
        this.recorded.set(sessionId, await RecordedSession.open(this.target.store, ref));
    }
    return ref;
  }

  /**
   * A session of another source with the same id is not continued by a file that has none of its lines: the file gets
   * a session of its own.
   */
  private async openApart(found: ImportedSession, named: OpenedSession): Promise<OpenedSession> {
    const { sessionId } = found;
    const ownId = `${sessionId}.${this.format.name}`;
    const isApart = await this.hasTranscript(ownId);
    const isContinued = async () =>
      this.resumed || this.previousTips[sessionId] !== undefined || (await this.hasKnownLine(sessionId, named));
    if (!isApart && (named.empty || (await isContinued()))) return named;
    this.ownIds.set(sessionId, ownId);
    return this.target.openSession({ ...found, sessionId: ownId, recordedIds: [] }, this.options.agent);
  }

  private async hasTranscript(sessionId: string): Promise<boolean> {
    const row = await this.target.store.db
      .selectFrom("transcripts")
      .select("id")
      .where("agent", "=", this.options.agent)
      .where("session_id", "=", sessionId)
      .executeTakeFirst();
    return row !== undefined;
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

  /** The pending entries with their places; in a session that had entries before, they are compared with those. */
  private async placePending(): Promise<{ ref: OpenedSession; draft: EntryDraft & { id: string } }[]> {
    const placed = this.pending.map(({ ref, draft }) => ({ ref, draft }));
    for (const [sessionId, known] of this.known) {
      const own = this.pending.flatMap((one, index) => (one.sessionId === sessionId ? [{ ...one, index }] : []));
      if (own.length === 0) continue;
      const resolved = this.recorded.get(sessionId)?.resolve(own.map(({ draft }) => draft));
      const drafts = resolved ? own.map((one, at) => ({ ...one, draft: resolved[at] ?? one.draft })) : own;
      for (const [at, draft] of (await known.place(drafts)).entries()) {
        const { ref, index } = own[at] as (typeof own)[number];
        placed[index] = { ref, draft };
        this.resolvePlace(sessionId, ref, draft);
      }
    }
    return placed;
  }

  private async flush(stat: { size: number; mtimeMs: number }, isLast = false): Promise<void> {
    const drafts = await this.placePending();
    const reader = this.reader?.state();
    const state: FileState = {
      reader,
      tips: Object.fromEntries(this.tips),
      name: this.name,
      unfinished: this.unfinished,
      ...(this.source.checkpoint === undefined ? {} : { checkpoint: this.source.checkpoint }),
    };
    const whole = this.format.layout === "array" || this.last.end >= stat.size;
    const heads = [...this.known].flatMap(([sessionId, { headId }]) => {
      const ref = this.opened.get(sessionId);
      return headId === undefined || ref === undefined ? [] : [{ ref, headId }];
    });
    const batch = { drafts, broken: this.quarantine, released: this.released, heads: isLast ? heads : [] };
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
    this.released = [];
    this.pending = [];
    this.quarantine = [];
    this.onPosition(this.last.end);
  }
}

/** The session id that a store of sessions knows: that of the first of several parts. */
function getFirstId({ sessionId, continues }: ImportedSession): string {
  return continues?.firstId ?? sessionId;
}

function hashBytes(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 32);
}

function isReply(entry: EntryDraft): boolean {
  return entry.type === "message" && entry.message.role === "assistant";
}
