import { type Entry, type EntryDraft, type JsonValue, VarveError } from "../domain/index.ts";
import type { Session } from "../session/index.ts";
import type { AppendResult } from "../store/index.ts";
import {
  appendEntries,
  type BranchInfo,
  type ExportFormat,
  exportConversation,
  findEntry,
  isInherited,
  listBranches,
  listCheckpoints,
  moveHead,
  type Page,
  readEntries,
  readTail,
  restoreCheckpoint,
  saveCheckpoint,
  walkBranch,
} from "../transcript/index.ts";
import type { EngineHost } from "./host.ts";

const compactionsMax = 20;

export interface ReadOptions {
  /** 1 to 1000; 50 when absent. */
  limit?: number;
  /** The `before` of the page that was read. */
  before?: number;
  /** Only what the current session id holds. */
  currentOnly?: boolean;
}

/** The log of a conversation. */
export interface Transcripts {
  append(session: Session, entries: EntryDraft[]): Promise<AppendResult>;
  /** The last entries of the active branch, oldest first. */
  read(session: Session, options?: ReadOptions): Promise<Page>;
  /** All entries of the active branch, in pages, oldest first. */
  walk(session: Session): AsyncGenerator<Entry[]>;
  entry(session: Session, id: string): Promise<Entry>;
  /** The entries that say that a context was compacted, the newest first: the last 20, whoever compacted it. */
  compactions(session: Session): Promise<Entry[]>;
  /** Continues from an entry; what follows it stays readable on its own branch. */
  moveHead(session: Session, entryId: string): Promise<void>;
  branches(session: Session): Promise<BranchInfo[]>;
  saveCheckpoint(session: Session, name: string, data?: JsonValue): Promise<void>;
  restoreCheckpoint(session: Session, name: string): Promise<JsonValue>;
  checkpoints(session: Session): Promise<{ name: string; time: number }[]>;
  export(session: Session, format: ExportFormat): AsyncGenerator<string>;
}

export function transcriptsOf(host: EngineHost): Transcripts {
  const { store } = host;
  return {
    append: (session, entries) => appendEntries(store, refOf(session), entries, host),
    read: (session, { limit = 50, before, currentOnly } = {}) =>
      readTail(store, session, {
        limit: Math.min(Math.max(limit, 1), 1000),
        before,
        transcript: currentOnly ? session.transcript : undefined,
      }),
    walk: (session) => walkBranch(store, session),
    entry: async (session, id) => {
      const seq = /^msg#(\d+)$/.exec(id)?.[1];
      const by = seq === undefined ? { conversation: session.conversation, id } : { seq: Number(seq) };
      const { entry, conversation } = await findEntry(store, session.agent, by);
      if (await isInherited(store, session, conversation)) return entry;
      throw new VarveError("ENTRY_NOT_FOUND", `The session ${session.key} has no entry ${id}.`, {
        remedy: "Take an id from `varve sessions show` or from a search result.",
      });
    },
    async compactions({ agent, conversation }) {
      const rows = await store.db
        .selectFrom("entries")
        .select("seq")
        .where("agent", "=", agent)
        .where("conversation", "=", conversation)
        .where("kind", "=", "compaction")
        .orderBy("seq", "desc")
        .limit(compactionsMax)
        .execute();
      const seqs = rows.map((row) => row.seq);
      const entries = await readEntries(store, agent, seqs, "reference");
      return entries.sort((a, b) => b.seq - a.seq);
    },
    moveHead: (session, entryId) => moveHead(store, session, entryId),
    branches: (session) => listBranches(store, session),
    saveCheckpoint: (session, name, data) => saveCheckpoint(store, session, name, host.clock, data),
    restoreCheckpoint: (session, name) => restoreCheckpoint(store, session, name),
    checkpoints: (session) => listCheckpoints(store, session),
    export: (session, format) =>
      exportConversation(
        store,
        session,
        {
          sessionId: session.sessionId,
          key: session.key,
          agent: session.agent,
          startedAt: session.sessionStartedAt,
          title: session.displayName,
          meta: session.metadata,
        },
        format,
        host.loaded.config.redact,
      ),
  };
}

export function refOf(session: Session): { agent: string; conversation: number; transcript: number } {
  return { agent: session.agent, conversation: session.conversation, transcript: session.transcript };
}
