import { type Entry, type EntryDraft, type Message, VarveError } from "../domain/index.ts";
import type { AppendBatch, AppendResult, NewJob, Store, StoreTransaction } from "../store/index.ts";
import { encodeEntry, type Sources } from "./codec.ts";

/** Where a transcript is: what a resolved session knows of itself. */
export interface TranscriptRef {
  agent: string;
  conversation: number;
  transcript: number;
}

/** Above this a batch would hold the write lock for too long; callers cut their work before. */
export const batchEntriesMax = 10_000;

/**
 * Appends entries as one batch: all of them or none, durable when it returns. Ids that are known are left alone, so
 * a batch that was sent twice is stored once.
 */
export async function appendEntries(
  store: Pick<Store | StoreTransaction, "append">,
  ref: TranscriptRef,
  drafts: EntryDraft[],
  sources: Sources,
  jobs?: NewJob[],
  options: Pick<AppendBatch, "sync" | "idempotencyKey" | "attached" | "interactionAt"> = {},
): Promise<AppendResult> {
  const isEmpty = drafts.length === 0 && options.idempotencyKey === undefined;
  if (isEmpty) return { entries: [], appended: 0, duplicates: 0 };
  if (drafts.length > batchEntriesMax) throw new RangeError(`a batch holds at most ${batchEntriesMax} entries`);
  return insideWhenTaken(sources, (using) => {
    const entries = drafts.map((draft) => encodeEntry(draft, using));
    return store.append({ ...ref, now: sources.clock.now(), entries, jobs, ...options });
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
