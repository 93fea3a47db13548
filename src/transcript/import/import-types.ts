import type { Store } from "../../store/index.ts";
import type { TranscriptRef } from "../append.ts";
import type { EncodeOptions } from "../codec.ts";
import type { LegacySession } from "./legacy.ts";
import type { ImportedSession, SourceName } from "./reader.ts";

export interface ImportTarget extends EncodeOptions {
  store: Store;
  /** Finds or creates the session for a conversation found in a file. */
  openSession(session: ImportedSession, agent: string, legacy?: LegacySession): Promise<OpenedSession>;
  /** Applies facts about an open session that a file states later. */
  describeSession(session: ImportedSession, ref: OpenedSession): Promise<void>;
}

export interface OpenedSession extends TranscriptRef {
  /** True while the session has no imported entry: a root of the source continues from its opening. */
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
  /** Entries that are not messages: summaries, settings, markers. They are stored too. */
  otherEntries: number;
  /** Files in a folder whose format was not recognised. */
  skipped: string[];
  broken: { path: string; record: number; reason: string }[];
}
