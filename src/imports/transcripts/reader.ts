import type { EntryDraft, JsonObject, JsonValue } from "../../domain/index.ts";

/** The programs whose files can be imported. */
export const sourceNames = [
  "claude-code",
  "pi",
  "openclaw",
  "codex",
  "chatgpt",
  "claude-ai",
  "jsonl",
  "lossless-claw",
] as const;
export type SourceName = (typeof sourceNames)[number];

/** A conversation found in a file. */
export interface ImportedSession {
  /** The id of the conversation in the source. */
  sessionId: string;
  /** The channel of the session key; usually the name of the source. */
  channel: string;
  /** The session that a reset ended, in the same conversation; `firstId` is the session id of the whole transcript. */
  continues?: { sessionId: string; firstId: string; resetId: string };
  /** For a sub-agent: the session that started it. */
  parentSessionId?: string;
  cwd?: string;
  title?: string;
  startedAt?: number;
  /** The entry the conversation continues from, when it is not the last one. */
  head?: string;
  /** Stored unchanged on the session. */
  meta?: JsonObject;
  /** The session ids under which its requests are recorded already. */
  recordedIds?: readonly string[];
}

/** The content of one record. Every record yields at least one event: nothing is dropped silently. */
export type ReaderEvent =
  | { kind: "session"; session: ImportedSession }
  /** An entry of a session announced by an earlier event. */
  | {
      kind: "entry";
      sessionId: string;
      entry: EntryDraft & { id: string; time: number };
      /** Set when the source names no parent: the entry follows the previous one of its session in the file. */
      inOrder?: true;
    }
  /** A title for the session that has the named entry, which may be in another file. */
  | { kind: "title"; entryId: string; title: string; entry: EntryDraft & { id: string; time: number } }
  /** The reader keeps the record until a later one says which session it belongs to. */
  | { kind: "held" }
  /** The record cannot be read; it is quarantined with the reason. */
  | { kind: "bad"; reason: string };

/**
 * Reads the records of one file in order. A record is one line, or one element of a JSON array. Pure: it turns text
 * into events and never uses the disk or the clock.
 */
export interface RecordReader {
  /** `text` is the exact record without its line end. Blank lines are skipped by the caller. */
  read(text: string, recordNumber: number): ReaderEvent[];
  /** The events of records that are still held at the end of the file. */
  finish?(): ReaderEvent[];
  /** The state needed to resume after the last record; `undefined` when the reader can only start at the beginning. */
  state(): JsonValue | undefined;
}

export interface ReaderContext {
  /** For formats that encode facts in file names. */
  path: string;
  /** The name of a session that the file's records do not name; default: the file's name without its extension. */
  name?: string;
  /** The modification time, for records without a time. */
  fileTime: number;
  /** The result of `state()` when the file was last read up to here. */
  state?: JsonValue;
}

export interface SourceFormat {
  name: SourceName;
  /** `lines`: one record per line. `array`: the file is a JSON array, one record per element. */
  layout: "lines" | "array";
  /** Whether a file has this format, judged by its path and its first records (up to 20, each up to 64 KiB). */
  detect(path: string, firstRecords: string[]): boolean;
  open(context: ReaderContext): RecordReader;
  /** Whether the program's requests may be recorded too, under its session id. */
  mayBeRecorded?: true;
}
