import { type Entry, type EntryDraft, type Message, VarveError } from "../domain/index.ts";
import type { AppendBatch, AppendResult, NewJob, Store, StoreTransaction } from "../store/index.ts";
import { type EncodeOptions, encodeEntry } from "./codec.ts";

/** Identifies a transcript: the part of a resolved session that entries are appended to. */
export interface TranscriptRef {
  agent: string;
  conversation: number;
  transcript: number;
}

/** A larger batch would hold the write lock for too long; callers split their work. */
export const batchEntriesMax = 10_000;

/**
 * Appends entries atomically; they are durable when it returns. Entries with a known id are skipped, so a batch that is
 * sent twice is stored once.
 */
export async function appendEntries(
  store: Pick<Store | StoreTransaction, "append">,
  ref: TranscriptRef,
  drafts: EntryDraft[],
  encoding: EncodeOptions,
  jobs?: NewJob[],
  options: Pick<AppendBatch, "sync" | "idempotencyKey" | "attached" | "interactionAt"> = {},
): Promise<AppendResult> {
  const isEmpty = drafts.length === 0 && options.idempotencyKey === undefined;
  if (isEmpty) return { entries: [], appended: 0, duplicates: 0 };
  if (drafts.length > batchEntriesMax) throw new RangeError(`a batch has at most ${batchEntriesMax} entries`);
  return retryInlineOnCollision(encoding, (attempt) => {
    const entries = drafts.map((draft) => encodeEntry(draft, attempt));
    return store.append({ ...ref, now: encoding.clock.now(), entries, jobs, ...options });
  });
}

/**
 * Ids of large content are 64 bits of a hash. When two contents collide, the write is retried with the later content
 * stored inside its message: larger than it should be, but not lost.
 */
export async function retryInlineOnCollision<T>(
  encoding: EncodeOptions,
  write: (encoding: EncodeOptions) => Promise<T>,
): Promise<T> {
  try {
    return await write(encoding);
  } catch (error) {
    if (!(error instanceof VarveError) || error.code !== "FILE_ID_TAKEN") throw error;
    return write({ ...encoding, largeContentTokens: undefined });
  }
}

export function toMessageDraft(message: Message): EntryDraft {
  return { type: "message", message };
}

/** The messages among some entries, in order. */
export function listMessages(entries: Entry[]): Message[] {
  return entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
}
