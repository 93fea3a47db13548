import { type Entry, type EntryDraft, type Message, VarveError } from "../domain/index.ts";
import type { AppendBatch, AppendResult, Store, StoreTransaction } from "../store/index.ts";
import { encodeEntry, type Sources } from "./codec.ts";
import { describeFileJobs } from "./large-content/describe-file.ts";

/** Where a transcript is: what a resolved session knows of itself. */
export interface TranscriptRef {
  agent: string;
  conversation: number;
  transcript: number;
}

/** Above this a batch would hold the write lock for too long; callers cut their work before. */
export const batchEntriesMax = 10_000;

/** How text that is too large for an entry is stored; everything stays inside its entry when absent. */
export interface LargeContentPolicy {
  /** Text above this many tokens is stored as a file of its own. */
  largeContentTokens?: number;
  /** Whether a job that lets a model describe each file is written with it. */
  describeFiles?: boolean;
}

export type AppendOptions = LargeContentPolicy &
  Pick<AppendBatch, "jobs" | "sync" | "idempotencyKey" | "attached" | "interactionAt"> & {
    /** Called when jobs were written with the batch. */
    onJobs?(): void;
  };

/**
 * Appends entries as one batch: all of them or none, durable when it returns. Known ids are left alone, so a batch that
 * is sent twice is stored once.
 */
export async function appendEntries(
  store: Pick<Store | StoreTransaction, "append" | "clock" | "random">,
  ref: TranscriptRef,
  drafts: EntryDraft[],
  { largeContentTokens, describeFiles, onJobs, ...options }: AppendOptions = {},
): Promise<AppendResult> {
  const isEmpty = drafts.length === 0 && options.idempotencyKey === undefined;
  if (isEmpty) return { entries: [], appended: 0, duplicates: 0 };
  if (drafts.length > batchEntriesMax) throw new RangeError(`a batch holds at most ${batchEntriesMax} entries`);
  const { agent, conversation, transcript } = ref;
  const { clock, random } = store;
  return insideWhenTaken({ clock, random, largeContentTokens }, async (sources) => {
    const entries = drafts.map((draft) => encodeEntry(draft, sources));
    const jobs = [...(options.jobs ?? []), ...(describeFiles ? describeFileJobs(store, agent, entries) : [])];
    const batch = { agent, conversation, transcript, now: clock.now(), entries, ...options, jobs };
    const result = await store.append(batch);
    if (jobs.length > 0) onJobs?.();
    return result;
  });
}

/**
 * Ids of large content are 64 bits of a hash. Should two contents ever share one, the later stays inside its message:
 * larger than it should be, and not lost.
 */
export async function insideWhenTaken<T>(sources: Sources, write: (sources: Sources) => Promise<T>): Promise<T> {
  try {
    return await write(sources);
  } catch (error) {
    if (!(error instanceof VarveError) || error.code !== "FILE_ID_TAKEN") throw error;
    return write({ ...sources, largeContentTokens: undefined });
  }
}

export function messageDraft(message: Message): EntryDraft {
  return { type: "message", message };
}

/** The messages of some entries, in order. */
export function listMessages(entries: Entry[]): Message[] {
  return entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
}
