import { type Entry, type EntryDraft, type Message, VarveError } from "../domain/index.ts";
import {
  type AppendBatch,
  type AppendResult,
  type AttachedStatement,
  attachStatement,
  type EntryRow,
  type Store,
  type StoreTransaction,
} from "../store/index.ts";
import { type EncodeOptions, encodeEntry } from "./codec.ts";
import { describeFileJobs } from "./large-content/describe-file.ts";

/** Identifies a transcript: the part of a resolved session that entries are appended to. */
export interface TranscriptRef {
  agent: string;
  conversation: number;
  transcript: number;
}

/** A larger batch would hold the write lock for too long; callers split their work. */
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
 * Appends entries atomically; they are durable when it returns. Entries with a known id are skipped, so a batch that is
 * sent twice is stored once.
 */
export async function appendEntries(
  store: Pick<Store | StoreTransaction, "append" | "capture" | "clock" | "db" | "random">,
  ref: TranscriptRef,
  drafts: EntryDraft[],
  { largeContentTokens, describeFiles, onJobs, ...options }: AppendOptions = {},
): Promise<AppendResult> {
  const isEmpty = drafts.length === 0 && options.idempotencyKey === undefined;
  if (isEmpty) return { entries: [], appended: 0, duplicates: 0 };
  if (drafts.length > batchEntriesMax) throw new RangeError(`a batch has at most ${batchEntriesMax} entries`);
  const { agent, conversation, transcript } = ref;
  const { clock, random, capture } = store;
  return retryInlineOnCollision({ clock, random, largeContentTokens, capture }, async (sources) => {
    const entries = drafts.map((draft) => encodeEntry(draft, sources));
    const jobs = [...(options.jobs ?? []), ...(describeFiles ? describeFileJobs(store, agent, entries) : [])];
    const attached = [...(options.attached ?? []), ...createSecretStatements(store, agent, entries)];
    const batch = { agent, conversation, transcript, now: clock.now(), entries, ...options, jobs, attached };
    const result = await store.append(batch);
    if (jobs.length > 0) onJobs?.();
    return result;
  });
}

/** The statements that keep the credentials of entries aside. */
export function createSecretStatements(
  { db, clock }: Pick<Store | StoreTransaction, "db" | "clock">,
  agent: string,
  entries: readonly EntryRow[],
): AttachedStatement[] {
  const created_at = clock.now();
  return entries
    .flatMap((entry) => entry.secrets ?? [])
    .map((secret) =>
      attachStatement(
        db
          .insertInto("secrets")
          .values({ agent, ...secret, created_at })
          .onConflict((conflict) => conflict.columns(["agent", "id"]).doNothing()),
      ),
    );
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
