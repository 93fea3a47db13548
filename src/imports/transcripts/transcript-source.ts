import { closeSync, createReadStream, openSync, readSync, statSync } from "node:fs";
import { Readable } from "node:stream";
import { createZstdDecompress } from "node:zlib";
import type { LegacySession } from "./legacy.ts";
import { type FileRecord, readArray, readLines } from "./records.ts";

/** Where the records of one transcript are read from: a file, a compressed file, or rows of another database. */
export interface TranscriptSource {
  /** The name under which the progress is remembered. */
  readonly path: string;
  /** The agent that the transcript belongs to; the agent of the import when absent. */
  readonly agent?: string;
  /** Facts from the source's own store about its sessions, by session id. */
  readonly sessions?: ReadonlyMap<string, LegacySession>;
  measure(): { size: number; mtimeMs: number };
  read(from: { record: number; end: number }, signal?: AbortSignal): AsyncGenerator<FileRecord>;
  /** The bytes at a position, to notice that the source was rewritten; undefined when it can only be read again. */
  readBytes(start: number, length: number): Buffer | undefined;
  /** Finds where the last import ended, for sources that are read through another program. */
  resume?(known: ImportedUpTo | undefined): Promise<ResumeState>;
  /** Where reading continues after what was read; stored with the progress. */
  readonly checkpoint?: string;
}

/** The end of the last import of a source. */
export interface ImportedUpTo {
  checkpoint?: string;
  /** The last record: its start, the position after it, and the hash of its text. */
  lastStart: number;
  position: number;
  lastHash: string;
}

/** `same`: nothing was added. `grown`: records were added. `changed`: it must be read from its start. */
export type ResumeState = "same" | "grown" | "changed";

/** A file of lines, or of a JSON array. */
export class FileSource implements TranscriptSource {
  readonly path: string;
  readonly agent?: string;
  readonly sessions?: ReadonlyMap<string, LegacySession>;
  readonly #layout: "lines" | "array";

  constructor(path: string, layout: "lines" | "array", facts: Pick<TranscriptSource, "agent" | "sessions"> = {}) {
    this.path = path;
    this.#layout = layout;
    this.agent = facts.agent;
    this.sessions = facts.sessions;
  }

  measure(): { size: number; mtimeMs: number } {
    return statSync(this.path);
  }

  read(from: { record: number; end: number }, signal?: AbortSignal): AsyncGenerator<FileRecord> {
    if (this.#layout === "array") return readArray(this.path, signal);
    const stream = createReadStream(this.path, { start: from.end, highWaterMark: 1024 * 1024, signal });
    return readLines(stream, { byte: from.end, number: from.record });
  }

  readBytes(start: number, length: number): Buffer {
    const handle = openSync(this.path, "r");
    try {
      const bytes = Buffer.alloc(length);
      return bytes.subarray(0, readSync(handle, bytes, 0, length, start));
    } finally {
      closeSync(handle);
    }
  }
}

/** Lines that are compressed with zstd, in a file or in a row of a database. They do not grow. */
export class ArchiveSource implements TranscriptSource {
  readonly path: string;
  readonly agent?: string;
  readonly sessions?: ReadonlyMap<string, LegacySession>;
  readonly #content: { file: string } | { bytes: Buffer; time: number };
  readonly #isCompressed: boolean;

  constructor(
    path: string,
    content: { file: string } | { bytes: Buffer; time: number },
    isCompressed: boolean,
    facts: Pick<TranscriptSource, "agent" | "sessions"> = {},
  ) {
    this.path = path;
    this.#content = content;
    this.#isCompressed = isCompressed;
    this.agent = facts.agent;
    this.sessions = facts.sessions;
  }

  measure(): { size: number; mtimeMs: number } {
    if ("file" in this.#content) return statSync(this.#content.file);
    return { size: this.#content.bytes.length, mtimeMs: this.#content.time };
  }

  read(_from: { record: number; end: number }, signal?: AbortSignal): AsyncGenerator<FileRecord> {
    const content = this.#content;
    const raw = "file" in content ? createReadStream(content.file, { signal }) : Readable.from([content.bytes]);
    if (!this.#isCompressed) return readLines(raw, { byte: 0, number: 0 });
    const lines = createZstdDecompress();
    raw.on("error", (error: Error) => lines.destroy(error));
    return readLines(raw.pipe(lines), { byte: 0, number: 0 });
  }

  readBytes(): undefined {
    return undefined;
  }
}
