import type { JsonObject } from "../../domain/index.ts";
import type { LegacySession } from "./legacy.ts";
import { type FileRecord, hashRecord } from "./records.ts";
import type { ImportedUpTo, ResumeState, TranscriptSource } from "./transcript-source.ts";

/** A record of a transcript, by its number there. */
export interface HostRecord {
  seq: number;
  event: JsonObject;
}

/** The records after a cursor. `reset`: the transcript was rewritten, and is read again from its start. */
export type HostPage =
  | { kind: "page"; cursor: string; hasMore: boolean; records: HostRecord[] }
  | { kind: "reset" }
  | { kind: "missing" };

/**
 * A transcript that the program which owns it reads for Varve. Its database is not opened here: two copies of SQLite
 * in one process would release each other's locks on the file.
 */
export interface HostTranscript {
  /** The name under which the progress is remembered; the same as of an import of the database, which it continues. */
  path: string;
  session: LegacySession;
  /** The last record to import; all of them when absent. */
  lastSeq?: number;
  readPage(cursor: string | undefined): Promise<HostPage>;
}

/** Reads the pages of a host as records of a transcript. */
export class HostSource implements TranscriptSource {
  readonly path: string;
  readonly agent: string;
  readonly sessions: ReadonlyMap<string, LegacySession>;
  readonly #transcript: HostTranscript;
  readonly #now: number;
  /** The cursor before the first record that is not imported yet, as far as pages allow. */
  #cursor: string | undefined;
  #page: Extract<HostPage, { kind: "page" }> | undefined;

  constructor(transcript: HostTranscript, now: number) {
    this.#transcript = transcript;
    this.#now = now;
    this.path = transcript.path;
    this.agent = transcript.session.agent;
    this.sessions = new Map([[transcript.session.sessionId, transcript.session]]);
  }

  get checkpoint(): string | undefined {
    return this.#cursor;
  }

  async resume(known: ImportedUpTo | undefined): Promise<ResumeState> {
    const found = known && (known.checkpoint === undefined ? await this.#findRecord(known) : await this.#follow(known));
    if (found !== undefined) return found;
    this.#cursor = undefined;
    this.#page = undefined;
    return "changed";
  }

  /** The size is unknown: every import asks the host for what follows. */
  measure(): { size: number; mtimeMs: number } {
    return { size: Number.MAX_SAFE_INTEGER, mtimeMs: this.#now };
  }

  async *read(from: { end: number }, signal?: AbortSignal): AsyncGenerator<FileRecord> {
    for (;;) {
      signal?.throwIfAborted();
      const page = this.#page ?? (await this.#readPage(this.#cursor));
      this.#page = undefined;
      if (page === undefined) return;
      for (const record of this.#select(page.records, from.end)) yield toFileRecord(record);
      if (this.#isBeyond(page.records)) return;
      this.#cursor = page.cursor;
      if (!page.hasMore) return;
    }
  }

  readBytes(): undefined {
    return undefined;
  }

  /** Continues at the cursor of the last import; undefined when the host no longer accepts it. */
  async #follow(known: ImportedUpTo): Promise<ResumeState | undefined> {
    this.#cursor = known.checkpoint;
    this.#page = await this.#readPage(this.#cursor);
    if (this.#page === undefined) return undefined;
    const isSame = !this.#page.hasMore && this.#select(this.#page.records, known.position).length === 0;
    return isSame ? "same" : "grown";
  }

  /** Looks for the last record of an import of the database, which left no cursor. */
  async #findRecord(known: ImportedUpTo): Promise<ResumeState | undefined> {
    for (;;) {
      const page = await this.#readPage(this.#cursor);
      if (page === undefined) return undefined;
      const last = page.records.find(({ seq }) => seq === known.lastStart);
      if (last !== undefined) {
        if (hashRecord(JSON.stringify(last.event)) !== known.lastHash) return undefined;
        this.#page = page;
        return "grown";
      }
      if (!page.hasMore || (page.records.at(-1)?.seq ?? 0) > known.lastStart) return undefined;
      this.#cursor = page.cursor;
    }
  }

  async #readPage(cursor: string | undefined): Promise<Extract<HostPage, { kind: "page" }> | undefined> {
    const page = await this.#transcript.readPage(cursor);
    return page.kind === "page" ? page : undefined;
  }

  #select(records: readonly HostRecord[], from: number): HostRecord[] {
    const { lastSeq = Number.POSITIVE_INFINITY } = this.#transcript;
    return records.filter(({ seq }) => seq >= from && seq <= lastSeq);
  }

  #isBeyond(records: readonly HostRecord[]): boolean {
    const { lastSeq } = this.#transcript;
    return lastSeq !== undefined && (records.at(-1)?.seq ?? -1) > lastSeq;
  }
}

function toFileRecord({ seq, event }: HostRecord): FileRecord {
  return { number: seq + 1, start: seq, end: seq + 1, complete: true, text: JSON.stringify(event) };
}
