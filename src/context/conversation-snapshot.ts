import type { Message } from "../domain/index.ts";
import type { ViewSnapshot } from "./view-snapshot.ts";
import { getEntryMessage } from "./window.ts";

/** How a conversation stood when it was looked at: it tells whether there may be work behind the next turn. */
export interface ConversationSnapshot {
  /** What all of it holds. */
  tokens: number;
  /** What was not read for memories yet; not told when it is long. */
  unseen: Message[];
  isLong: boolean;
}

/** What is longer is read by a job: it may hold anything, and part of it is kept elsewhere. */
const readTokensMax = 4_000;
const unseenMax = 40;

/** Nothing is told of a conversation with more than one branch: what counts of it takes more than a look. */
export function takeConversationSnapshot(
  { place, tail }: ViewSnapshot,
  seenSeq: number,
): ConversationSnapshot | undefined {
  if (place?.branch_count !== 1 || place.parent_conversation !== null) return undefined;
  const fresh = tail.entries.filter((entry) => entry.seq > seenSeq && entry.type === "message");
  const isCut = tail.before !== undefined && (tail.entries[0]?.seq ?? 0) > seenSeq;
  const isLong = isCut || fresh.length >= unseenMax || fresh.some((entry) => entry.tokens > readTokensMax);
  return { tokens: place.tokens, unseen: isLong ? [] : fresh.flatMap((entry) => getEntryMessage(entry) ?? []), isLong };
}
