import type { Message } from "../../domain/index.ts";
import { type BatchRows, type Db, prepareQuery, type Store } from "../../store/index.ts";
import {
  headQuery,
  isUnbranched,
  type Page,
  readTip,
  type Segment,
  tipQuery,
  transcriptsQuery,
} from "../../transcript/index.ts";
import type { ConversationRef } from "../dag.ts";
import { type StateRow, stateQuery } from "../frontier.ts";
import { getEntryMessage } from "../window.ts";

/** The rows that most views of a conversation need, read in one round trip. */
export interface ViewSnapshot {
  place: BatchRows<ReturnType<typeof viewSnapshotQueries>>[0][number] | undefined;
  path: Segment[];
  state: StateRow | undefined;
  /** The newest entries, large content as references. */
  tail: Page;
}

/** How many of the newest entries are read. */
const viewSnapshotEntries = 136;

const place = prepareQuery(headQuery);
// One more shows the parent of the first, and whether there is a page before.
const tip = prepareQuery((db, ref: ConversationRef) => tipQuery(db, ref, viewSnapshotEntries + 1));
const transcripts = prepareQuery(transcriptsQuery);
const state = prepareQuery(stateQuery);

export function viewSnapshotQueries(db: Db, ref: ConversationRef) {
  return [place(db, ref), tip(db, ref), transcripts(db, ref), state(db, ref)] as const;
}

export async function readViewSnapshot(
  store: Store,
  ref: ConversationRef,
  [places, rows, ids, states]: BatchRows<ReturnType<typeof viewSnapshotQueries>>,
): Promise<ViewSnapshot> {
  const { path, page } = await readTip(store, ref, places[0], rows, ids, viewSnapshotEntries);
  return { place: places[0], path, state: states[0], tail: page };
}

/** The size of a conversation and its unread messages: decides whether the next turn needs background jobs. */
export interface ConversationSnapshot {
  /** The tokens of the whole conversation. */
  tokens: number;
  /** The messages that no memories were extracted from yet; empty when `isLong`. */
  unseen: Message[];
  isLong: boolean;
}

/** A longer message is read by a job: it may contain anything, and part of it may be stored as a file. */
const readTokensMax = 4_000;
const unseenMax = 40;

/** Undefined for a conversation with more than one branch, or whose head was moved back: its size cannot be told from the snapshot. */
export function takeConversationSnapshot(
  { place, tail }: ViewSnapshot,
  seenSeq: number,
): ConversationSnapshot | undefined {
  if (!isUnbranched(place)) return undefined;
  const fresh = tail.entries.filter((entry) => entry.seq > seenSeq && entry.type === "message");
  const isCut = tail.before !== undefined && (tail.entries[0]?.seq ?? 0) > seenSeq;
  const isLong = isCut || fresh.length >= unseenMax || fresh.some((entry) => entry.tokens > readTokensMax);
  return { tokens: place.tokens, unseen: isLong ? [] : fresh.flatMap((entry) => getEntryMessage(entry) ?? []), isLong };
}
