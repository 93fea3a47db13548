import type { Store } from "../../store/index.ts";
import type { EncodeOptions, TranscriptRef } from "../../transcript/index.ts";
import type { LegacySession } from "./legacy.ts";
import type { NotesFile } from "./openclaw/home.ts";
import type { ImportedSession, SourceName } from "./reader.ts";

export interface ImportTarget extends EncodeOptions {
  store: Store;
  /** Finds or creates the session for a conversation found in a file. */
  openSession(session: ImportedSession, agent: string, legacy?: LegacySession): Promise<OpenedSession>;
  /** The agent and key that `openSession` would use; writes nothing. */
  resolveKey(session: ImportedSession, agent: string, legacy?: LegacySession): { agent: string; key: string };
  /** Applies facts about an open session that a file states later. */
  describeSession(session: ImportedSession, ref: OpenedSession): Promise<void>;
}

export interface OpenedSession extends TranscriptRef {
  /** True while the session has no imported entry: a root of the source continues from its opening. */
  empty: boolean;
  /** Whether the source says when the session was last used, so that its messages do not. */
  statesInteraction?: boolean;
  /** Whether a session of another source has the same id. */
  isForeign?: true;
}

export interface ImportOptions {
  source: SourceName | "auto";
  agent: string;
  batchSize: number;
  /** The only agent to import from a home of OpenClaw; all of them when absent. */
  homeAgent?: string;
  /**
   * Leaves a new file without a reply to a later import: when requests of its program are recorded too, the first reply
   * tells which recorded conversation it is.
   */
  waitForReply?: boolean;
  /** Reports what would be imported, and writes nothing. */
  dryRun?: boolean;
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
  dryRun: boolean;
  /** The transcripts that would be imported; empty unless it is a dry run. */
  transcripts: PlannedTranscript[];
  /** Files of notes in the workspaces of a home. */
  notes: NotesFile[];
  /** Databases of plugins that were found in a home. */
  lcmFiles: string[];
  lanceFolders: string[];
  /** Summaries and memories that were imported. */
  summaries: number;
  memories: number;
  /** Ids of the owner that a home of OpenClaw names. */
  owners: { agent: string; channel: string; id: string; setting: string }[];
  /** Remarks: content that could not be taken over, with the reason, and owners that came with it. */
  remarks: string[];
}

/** A session that an import would bring. */
export interface PlannedTranscript {
  path: string;
  agent: string;
  key: string;
  sessionId: string;
  messages: number;
  otherEntries: number;
  /** Whether a session of this id is stored already; then only what is new is added. */
  known: boolean;
  /** Why its key no longer points to it. */
  archived?: string;
  /** The key in the source, when it differs. */
  from?: string;
}
