import { createHash } from "node:crypto";
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { type EntryDraft, type JsonValue, VarveError } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import type { TranscriptRef } from "../append.ts";
import { moveHead } from "../branch.ts";
import type { Sources } from "../codec.ts";
import { readTail } from "../read.ts";
import { type QuarantinedRecord, writeBatch } from "./batch.ts";
import { findFiles, headRecords } from "./files.ts";
import { detectSource, sourceFormats } from "./formats.ts";
import { type LegacySession, legacySessions } from "./legacy.ts";
import type { ImportedSession, ReaderEvent, RecordReader, SourceFormat, SourceName } from "./reader.ts";
import { type FileRecord, readArray, readLines } from "./records.ts";

export interface ImportHost extends Sources {
  store: Store;
  /** Finds or makes the session of a conversation that was found in a file. */
  openSession(session: ImportedSession, agent: string, legacy?: LegacySession): Promise<OpenedSession>;
  /** Takes over what a file says of an open session later on. */
  describeSession(session: ImportedSession, ref: OpenedSession): Promise<void>;
}

export interface OpenedSession extends TranscriptRef {
  /** True while nothing but its opening is in it: a root of the source continues from there. */
  empty: boolean;
}

export interface ImportOptions {
  source: SourceName | "auto";
  agent: string;
  batchSize: number;
  signal?: AbortSignal;
  onProgress?(progress: ImportProgress): void;
}

export interface ImportProgress {
  file: string;
  filesDone: number;
  files: number;
  bytesDone: number;
  bytes: number;
  imported: number;
}

export interface ImportResult {
  files: number;
  sessions: number;
  imported: number;
  duplicates: number;
  quarantined: number;
  seconds: number;
}

export interface ImportReport extends ImportResult {
  /** Entries that are no messages: summaries, settings, marks. They are kept too. */
  otherEntries: number;
  /** Files below a folder whose format nobody knew. */
  skipped: string[];
  broken: { path: string; record: number; reason: string }[];
}

/** What is remembered of a file beside the columns. */
interface FileState {
  /** Absent when the reader can only start at the top. */
  reader?: JsonValue;
  tips: Record<string, Tip>;
}

/** The newest entries of a session in a file: the last that was said, and the last of all. */
interface Tip {
  said: string;
  last: string;
}

export async function importPaths(host: ImportHost, paths: string[], options: ImportOptions): Promise<ImportReport> {
  const started = performance.now();
  const report: ImportReport = {
    files: 0,
    sessions: 0,
    imported: 0,
    duplicates: 0,
    quarantined: 0,
    seconds: 0,
    otherEntries: 0,
    skipped: [],
    broken: [],
  };
  const files = findFiles(paths);
  const named = new Set(paths);
  const sessions = new Set<string>();
  const sizes = files.map((file) => statSync(file).size);
  const progress: ImportProgress = {
    file: "",
    filesDone: 0,
    files: files.length,
    bytesDone: 0,
    bytes: sizes.reduce((sum, size) => sum + size, 0),
    imported: 0,
  };
  for (const [index, file] of files.entries()) {
    options.signal?.throwIfAborted();
    const format = formatOf(file, options.source, named.has(file) || (paths.length === 1 && files.length === 1));
    if (!format) report.skipped.push(file);
    else {
      report.files += 1;
      const before = progress.bytesDone;
      await new FileImport(host, options, format, file, report, sessions, (position) => {
        progress.file = file;
        progress.bytesDone = before + position;
        progress.imported = report.imported;
        options.onProgress?.(progress);
      }).run();
    }
    progress.filesDone = index + 1;
    progress.bytesDone = sizes.slice(0, index + 1).reduce((sum, size) => sum + size, 0);
    options.onProgress?.(progress);
  }
  report.sessions = sessions.size;
  report.seconds = Math.round(performance.now() - started) / 1000;
  return report;
}

function formatOf(file: string, source: SourceName | "auto", required: boolean): SourceFormat | undefined {
  const records = headRecords(file);
  if (source !== "auto") return sourceFormats.find((format) => format.name === source);
  const detected = detectSource(file, records);
  if (detected || records.length === 0 || !required) return detected;
  throw new VarveError("UNKNOWN_FORMAT", `The format of ${file} is not known.`, {
    remedy: `Name it with --source ${sourceFormats.map((format) => format.name).join("|")}.`,
  });
}

/** The import of one file: decides where to start, reads, and writes batch after batch. */
class FileImport {
  private readonly host: ImportHost;
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
  /** Records up to here were whole when the file was read before; one behind it may have been half a line then. */
  private wholeBefore: number | undefined;
  private last: { record: number; start: number; end: number; hash: string } = {
    record: 0,
    start: 0,
    end: 0,
    hash: "",
  };

  constructor(
    host: ImportHost,
    options: ImportOptions,
    format: SourceFormat,
    file: string,
    report: ImportReport,
    sessions: Set<string>,
    onPosition: (position: number) => void,
  ) {
    this.host = host;
    this.options = options;
    this.format = format;
    this.file = file;
    this.report = report;
    this.sessions = sessions;
    this.onPosition = onPosition;
    this.legacy = legacySessions(file);
  }

  async run(): Promise<void> {
    const stat = statSync(this.file);
    const known = await this.knownFile();
    if (known && known.size === stat.size && known.mtime === Math.trunc(stat.mtimeMs)) {
      this.report.duplicates += known.messages;
      for (const id of this.knownSessions(known.state)) this.sessions.add(id);
      return;
    }
    const state = known?.state ? (JSON.parse(known.state) as FileState) : undefined;
    const resumed = state?.reader !== undefined && known && this.stillTheSame(known, stat.size) ? known : undefined;
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
      await this.take(record);
      if (this.pending.length < this.options.batchSize) continue;
      await this.flush(stat);
      this.options.signal?.throwIfAborted();
    }
    await this.flush(stat);
    await this.moveHeads();
  }

  /** An export says where its conversation goes on; the last line is not always the place. */
  private async moveHeads(): Promise<void> {
    for (const { sessionId, head } of this.announced.values()) {
      const ref = this.opened.get(sessionId);
      if (head === undefined || ref === undefined) continue;
      const page = await readTail(this.host.store, ref, { limit: 1 });
      if (page.entries[0]?.id !== head) await moveHead(this.host.store, ref, head);
    }
  }

  private knownFile() {
    return this.host.store.db
      .selectFrom("import_files")
      .selectAll()
      .where("agent", "=", this.options.agent)
      .where("path", "=", this.file)
      .executeTakeFirst();
  }

  private knownSessions(state: string | null): string[] {
    return state === null ? [] : Object.keys((JSON.parse(state) as FileState).tips);
  }

  private openReader(mtimeMs: number, state?: JsonValue): void {
    this.reader = this.format.open({ path: this.file, fileTime: Math.trunc(mtimeMs), state });
  }

  /** A file that grew still holds the last record where it was; one that was rewritten does not. */
  private stillTheSame(known: { position: number; last_start: number; last_hash: string }, size: number): boolean {
    if (this.format.layout !== "lines" || size < known.position || known.position <= known.last_start) return false;
    const handle = openSync(this.file, "r");
    try {
      const bytes = Buffer.alloc(known.position - known.last_start);
      readSync(handle, bytes, 0, bytes.length, known.last_start);
      return hashOf(bytes.toString("utf8").replace(/\r?\n$/, "")) === known.last_hash;
    } finally {
      closeSync(handle);
    }
  }

  private async take(record: FileRecord): Promise<void> {
    const events = this.eventsOf(record);
    const bad = events.find((event) => event.kind === "bad");
    // A last line without its end may be half of one that is being written: it is read again when it has grown.
    const unfinished = !record.complete && bad !== undefined;
    for (const event of events) await this.apply(event, record);
    if (!unfinished && this.format.layout === "lines") {
      this.last = { record: record.number, start: record.start, end: record.end, hash: hashOf(record.text ?? "") };
    }
  }

  private eventsOf(record: FileRecord): ReaderEvent[] {
    if (record.text === undefined)
      return [{ kind: "bad", reason: "the record is not valid UTF-8, or longer than 400 MB" }];
    const events = this.reader?.read(record.text, record.number) ?? [];
    return events.length > 0 ? events : [{ kind: "bad", reason: "the record says nothing this format knows" }];
  }

  private async apply(event: ReaderEvent, record: FileRecord): Promise<void> {
    if (event.kind === "session") await this.announce(event.session);
    else if (event.kind === "bad") this.quarantine.push({ path: this.file, record, reason: event.reason });
    else {
      const ref = await this.open(event.sessionId);
      const draft = this.place(event.sessionId, ref, event.entry);
      ref.empty = false;
      this.pending.push({ ref, draft });
    }
  }

  /** A file may say more of a session later on, its title for example. */
  private async announce(session: ImportedSession): Promise<void> {
    this.announced.set(session.sessionId, session);
    const ref = this.opened.get(session.sessionId);
    if (ref) await this.host.describeSession(session, ref);
  }

  private async open(sessionId: string): Promise<OpenedSession> {
    this.sessions.add(sessionId);
    const known = this.opened.get(sessionId);
    if (known) return known;
    const announced = this.announced.get(sessionId) ?? { sessionId, channel: this.format.name };
    const ref = await this.host.openSession(announced, this.options.agent, this.legacy.get(sessionId));
    this.opened.set(sessionId, ref);
    return ref;
  }

  /**
   * Where an entry goes. State (settings, marks) stands between messages that name each other as parents; it belongs
   * where it stands, and the message behind it continues the branch instead of opening one.
   */
  private place<T extends EntryDraft & { id: string }>(sessionId: string, ref: OpenedSession, draft: T): T {
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
    const written = await writeBatch(this.host, this.options.agent, batch, (messages) => ({
      agent: this.options.agent,
      path: this.file,
      source: this.format.name,
      // Until the whole file is in, size and time are left open, so that the next run looks again.
      size: whole ? stat.size : -1,
      mtime: whole ? Math.trunc(stat.mtimeMs) : -1,
      position: this.last.end,
      records: this.last.record,
      messages: this.messages + messages,
      last_hash: this.last.hash,
      last_start: this.last.start,
      state: JSON.stringify(state),
      updated_at: this.host.clock.now(),
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

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
