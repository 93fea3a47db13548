import type { EntryDraft, JsonObject, JsonValue } from "../../domain/index.ts";

/** The programs whose files can be read. */
export const sourceNames = ["claude-code", "pi", "openclaw", "codex", "chatgpt", "claude-ai", "jsonl"] as const;
export type SourceName = (typeof sourceNames)[number];

/** A conversation found in a file. */
export interface ImportedSession {
  /** The source's own id of the conversation. */
  sessionId: string;
  /** The session key's channel; the source's name unless the source knows better. */
  channel: string;
  /** Set for a sub-agent's conversation: the session that started it. */
  parentSessionId?: string;
  cwd?: string;
  title?: string;
  startedAt?: number;
  /** The entry the conversation goes on from, when it is not the last one. */
  head?: string;
  /** Kept on the session as it is. */
  meta?: JsonObject;
}

/** What one record of a file says. Every record yields at least one event: nothing is dropped without a word. */
export type ReaderEvent =
  | { kind: "session"; session: ImportedSession }
  /** An entry of a session that an earlier event announced. */
  | { kind: "entry"; sessionId: string; entry: EntryDraft & { id: string; time: number } }
  /** The record cannot be read: it is kept in quarantine with the reason. */
  | { kind: "bad"; reason: string };

/**
 * Reads the records of one file, in order. A record is one line, or one element of a file that is one JSON array.
 * Pure: it sees text and gives events; it never touches a disk or the clock.
 */
export interface RecordReader {
  /** `text` is the exact record, without its line end; blank lines are never handed over. */
  read(text: string, recordNumber: number): ReaderEvent[];
  /** What the reader must know to go on behind the last record; `undefined` when it can only start at the top. */
  state(): JsonValue | undefined;
}

export interface ReaderContext {
  /** The file's path, for formats that put facts into names. */
  path: string;
  /** The file's modification time, for records that carry no time at all. */
  fileTime: number;
  /** What `state()` gave when the file was read up to here before. */
  state?: JsonValue;
}

/** One source's format. */
export interface SourceFormat {
  name: SourceName;
  /** `lines`: a record a line. `array`: the file is one JSON array, a record an element. */
  layout: "lines" | "array";
  /** Whether a file is of this format, from its path and its first records (up to 20, each up to 64 KiB). */
  detect(path: string, firstRecords: string[]): boolean;
  open(context: ReaderContext): RecordReader;
}
