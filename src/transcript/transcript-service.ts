import {
  type Entry,
  type EntryDraft,
  type JsonObject,
  type JsonValue,
  type Role,
  VarveError,
} from "../domain/index.ts";
import type { JobQueue } from "../jobs/index.ts";
import type { Generate } from "../models/index.ts";
import type { AppendResult, Store } from "../store/index.ts";
import { type AppendOptions, appendEntries, type LargeContentPolicy, type TranscriptRef } from "./append.ts";
import {
  type BranchInfo,
  type ForkInfo,
  listBranches,
  listCheckpoints,
  listForks,
  moveHead,
  restoreCheckpoint,
  saveCheckpoint,
} from "./branch.ts";
import type { ContentForm } from "./codec.ts";
import { changeStates, listStates, readStates, type StateChange } from "./conversation-state.ts";
import { exportConversation } from "./export/export-conversation.ts";
import type { ExportFormat } from "./export/export-formats.ts";
import { findTime } from "./find-time.ts";
import { describeFileHandler, describeFileKind } from "./large-content/describe-file.ts";
import { isInherited, readActivePath, readBranchPath } from "./path.ts";
import {
  findEntry,
  findSeqs,
  type Page,
  readAfter,
  readEntries,
  readTail,
  walkBranch,
  walkConversation,
} from "./read.ts";

const compactionsMax = 20;

export interface ReadOptions {
  /** 1 to 1000; 50 when absent. */
  limit?: number;
  /** The `before` of the page that was read. */
  before?: number;
  /** Only the entries of the current session id. */
  currentOnly?: boolean;
  /** Whether large content is returned in full (default), or as the reference that a model sees. */
  content?: ContentForm;
  /** Another branch than the active one. */
  branch?: number;
}

export interface Speaker {
  role: Role;
  name?: string;
}

/** A page that is read forwards. */
export interface ForwardPage {
  /** Oldest first. */
  entries: Entry[];
  /** Pass as `after` to read the next page; absent on the last one. */
  after?: number;
}

/** A session, as far as its transcript is concerned. */
export interface TranscriptSession extends TranscriptRef {
  key: string;
  sessionId: string;
  sessionStartedAt: number;
  displayName?: string;
  metadata: JsonObject;
}

/** Reads and appends the entries of a conversation. */
export interface TranscriptService {
  /** All entries or none, durable when it returns; known ids are left alone. */
  append(session: TranscriptSession, entries: EntryDraft[]): Promise<AppendResult>;
  /** The last entries of the active branch, oldest first. */
  read(session: TranscriptSession, options?: ReadOptions): Promise<Page>;
  /** The entries of the active branch after a sequence number, oldest first. */
  readForward(
    session: TranscriptSession,
    options: { after: number } & Pick<ReadOptions, "limit" | "content" | "branch">,
  ): Promise<ForwardPage>;
  /** The sequence number of the first entry of the active branch from a time on; undefined when all are older. */
  findTime(session: TranscriptSession, time: number): Promise<number | undefined>;
  /** All entries of the active branch, in pages, oldest first. */
  walk(session: TranscriptSession): AsyncGenerator<Entry[]>;
  /** All entries of the conversation on all branches, in pages, in the order in which they were written. */
  walkAll(session: TranscriptSession): AsyncGenerator<Entry[]>;
  entry(session: TranscriptSession, id: string): Promise<Entry>;
  /** Who said messages of an agent, by sequence number. The caller has checked that they are visible. */
  speakers(agent: string, seqs: readonly number[]): Promise<Map<number, Speaker>>;
  /** The last 20 entries that record a compaction, the newest first. */
  compactions(session: TranscriptSession): Promise<Entry[]>;
  /** Continues from an entry; the entries after it stay readable on their own branch. */
  moveHead(session: TranscriptSession, entryId: string): Promise<void>;
  branches(session: TranscriptSession): Promise<BranchInfo[]>;
  /** The sessions that were forked from this conversation, and the entry that each continues. */
  forks(session: TranscriptSession): Promise<ForkInfo[]>;
  saveCheckpoint(session: TranscriptSession, name: string, data?: JsonValue): Promise<void>;
  restoreCheckpoint(session: TranscriptSession, name: string): Promise<JsonValue>;
  checkpoints(session: TranscriptSession): Promise<{ name: string; time: number }[]>;
  /** Entries of this conversation by sequence number, in log order, on any branch. Missing ones are skipped. */
  entries(session: TranscriptSession, seqs: readonly number[]): Promise<Entry[]>;
  /** The sequence numbers of entries of this conversation, by their ids. Missing ones are absent. */
  findSeqs(session: TranscriptSession, ids: readonly string[]): Promise<Map<string, number>>;
  /** The state that a host keeps with a conversation, by name. It is deleted with the conversation. */
  readonly states: ConversationStates;
  export(session: TranscriptSession, format: ExportFormat): AsyncGenerator<string>;
}

/** Named JSON values of a conversation. No model sees them, and no search finds them. */
export interface ConversationStates {
  /** The states with these names; missing ones are absent from the result. */
  read(session: TranscriptSession, names: readonly string[]): Promise<Map<string, JsonValue>>;
  /** The names that start with `prefix`, in no particular order. */
  list(session: TranscriptSession, prefix: string): Promise<string[]>;
  /**
   * Reads states and writes what `change` makes of them, in one transaction: concurrent changes of a conversation run one
   * after the other. Undefined removes a state.
   */
  change(
    session: TranscriptSession,
    names: readonly string[],
    change: (current: ReadonlyMap<string, JsonValue>) => StateChange,
  ): Promise<void>;
}

/** Appends on behalf of the other modules: the one way entries are written outside an import. */
export interface TranscriptWriter {
  write(
    ref: TranscriptRef,
    entries: EntryDraft[],
    options?: Omit<AppendOptions, keyof LargeContentPolicy | "onJobs">,
  ): Promise<AppendResult>;
}

export interface TranscriptServiceOptions {
  store: Store;
  jobs: JobQueue;
  largeContentTokens: number;
  /** Describes large files; without it they keep their outline only. */
  describeFile?: Generate;
  /** Whether exports replace secrets. */
  redact: boolean;
}

export function createTranscriptService(options: TranscriptServiceOptions): TranscriptService & TranscriptWriter {
  const { store, jobs, largeContentTokens, describeFile, redact } = options;
  const policy: LargeContentPolicy = { largeContentTokens, describeFiles: describeFile !== undefined };
  jobs.register(describeFileKind, describeFileHandler(store, describeFile));
  const write: TranscriptWriter["write"] = (ref, entries, appendOptions) =>
    appendEntries(store, ref, entries, { ...appendOptions, ...policy, onJobs: () => jobs.wake() });
  return {
    write,
    append: (session, entries) => write(session, entries),
    read: (session, { limit = 50, before, currentOnly, content, branch } = {}) =>
      readTail(store, session, {
        ...(branch === undefined ? {} : { at: { branch, seq: Number.MAX_SAFE_INTEGER } }),
        limit: Math.min(Math.max(limit, 1), 1000),
        before,
        content,
        transcript: currentOnly ? session.transcript : undefined,
      }),
    async readForward(session, { after, limit = 50, content, branch }) {
      const most = Math.min(Math.max(limit, 1), 1000);
      const path = await (branch === undefined
        ? readActivePath(store, session)
        : readBranchPath(store, session, branch));
      const at = branch === undefined ? {} : { at: { branch, seq: Number.MAX_SAFE_INTEGER } };
      const parent =
        after > 0 ? await readTail(store, session, { limit: 1, before: after + 1, content, ...at }) : undefined;
      const parentId = parent?.entries[0]?.id ?? null;
      const entries = await readAfter(store, session.agent, path, { after, limit: most + 1, content, parentId });
      const page = entries.slice(0, most);
      return entries.length > most ? { entries: page, after: page.at(-1)?.seq } : { entries: page };
    },
    findTime: (session, time) => findTime(store, session, time),
    walk: (session) => walkBranch(store, session),
    walkAll: (session) => walkConversation(store, session),
    entry: async (session, id) => {
      const seq = /^msg#(\d+)$/.exec(id)?.[1];
      const by = seq === undefined ? { conversation: session.conversation, id } : { seq: Number(seq) };
      const { entry, conversation } = await findEntry(store, session.agent, by);
      if (await isInherited(store, session, conversation)) return entry;
      throw new VarveError("ENTRY_NOT_FOUND", `The session ${session.key} has no entry ${id}.`, {
        remedy: "Take an id from `varve sessions show` or from a search result.",
      });
    },
    async speakers(agent, seqs) {
      const entries = await readEntries(store, agent, seqs, "reference");
      const spoken = entries.flatMap((one) =>
        one.type === "message" ? [[one.seq, { role: one.message.role, name: one.message.name }] as const] : [],
      );
      return new Map(spoken);
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
    forks: (session) => listForks(store, session),
    saveCheckpoint: (session, name, data) => saveCheckpoint(store, session, name, store.clock, data),
    restoreCheckpoint: (session, name) => restoreCheckpoint(store, session, name),
    checkpoints: (session) => listCheckpoints(store, session),
    async entries({ agent, conversation }, seqs) {
      const found = await readEntries(store, agent, seqs);
      return found.filter((entry) => entry.conversation === conversation);
    },
    findSeqs: (session, ids) => findSeqs(store, session, ids),
    states: {
      read: (session, names) => readStates(store, session, names),
      list: (session, prefix) => listStates(store, session, prefix),
      change: (session, names, change) => changeStates(store, session, names, change),
    },
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
        redact,
      ),
  };
}
