import type { Store } from "../../store/index.ts";
import type { TranscriptRef } from "../append.ts";
import type { Sources } from "../codec.ts";
import type { LegacySession } from "./legacy.ts";
import type { ImportedSession, SourceName } from "./reader.ts";

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
