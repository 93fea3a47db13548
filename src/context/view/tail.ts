import type { Store } from "../../store/index.ts";
import type { ConversationRef } from "../dag.ts";
import type { Frontier } from "../frontier.ts";
import { type MessageEntry, newestRaw } from "../window.ts";
import { dropBrokenStart, groupMessages, type MessageGroup } from "./message-groups.ts";
import { pruneOld, withoutHeartbeats } from "./prune.ts";
import { countTokens } from "./summary-cut.ts";
import type { AssembleOptions, Note } from "./view-types.ts";

/** Where a message is in the log. */
export interface ReadMessage {
  seq: number;
  time: number;
}

/** The newest messages after the summaries: slightly more than fit a budget. */
export interface TailEntries {
  entries: MessageEntry[];
  /** Whether these are all messages after the summaries. */
  isComplete: boolean;
  notes: ReadonlyMap<number, Note>;
  /** All messages that were read, also those that are not shown. */
  read: readonly ReadMessage[];
}

/** The messages after the summaries as a view of some budget shows them. */
export interface Tail {
  groups: MessageGroup[];
  isComplete: boolean;
  /** Notes from before the first message. */
  leading: Note[];
  read: readonly ReadMessage[];
}

/** The most messages that are read for a view. */
const rawPageMax = 4_000;
/** A note of memories larger than this share of the budget is left out. */
const noteShare = 0.15;

export async function readTail(
  store: Store,
  ref: ConversationRef,
  frontier: Frontier,
  options: AssembleOptions,
): Promise<TailEntries> {
  const begin = options.begin?.seq ?? 0;
  for (let count = 128; ; count *= 2) {
    const newest = await newestRaw(store, ref, frontier, Math.min(count, rawPageMax), options.snapshot?.tail);
    const entries = applyPruning(newest, frontier.prunedSeq, options).filter((one) => one.entry.seq >= begin);
    const isComplete =
      newest.length < Math.min(count, rawPageMax) || (begin > 0 && (newest[0]?.entry.seq ?? begin) < begin);
    // A message counts no more than a view would show of it.
    const tokens = entries.reduce((sum, one) => sum + Math.min(one.item.tokens, options.budgetTokens / 4), 0);
    const isEnough = tokens > 1.5 * options.budgetTokens && hasWholeStep(entries);
    if (isComplete || isEnough || count >= rawPageMax) {
      const notes = (await options.notes?.(Math.max(begin, frontier.coveredSeq + 1))) ?? new Map<number, Note>();
      const read = newest.map(({ entry }) => ({ seq: entry.seq, time: entry.time })).filter(({ seq }) => seq >= begin);
      return { entries, isComplete, notes, read };
    }
  }
}

/** Whether a page holds more than results of a step that began before it. */
function hasWholeStep(entries: readonly MessageEntry[]): boolean {
  const calls = new Set(entries.flatMap(({ item }) => item.calls));
  return entries.some(({ item }) => item.results.every((id) => calls.has(id)));
}

/** Groups the messages, cuts them to their shares of a budget, and places the notes of memories. */
export function groupTail({ entries, isComplete, notes, read }: TailEntries, budgetTokens: number): Tail {
  const all = groupMessages(entries, budgetTokens);
  const whole = isComplete ? all : dropBrokenStart(all);
  const groups = whole.length === 0 ? all : whole;
  return { groups, isComplete, leading: placeNotes(groups, notes, isComplete, budgetTokens), read };
}

/**
 * Places notes where they were before: after the last message up to their entry. Those from before the first message are
 * returned; those of messages out of view, and those that are too large, are left out.
 */
function placeNotes(
  groups: readonly MessageGroup[],
  notes: ReadonlyMap<number, Note>,
  isComplete: boolean,
  budgetTokens: number,
): Note[] {
  const leading: Note[] = [];
  for (const [seq, note] of [...notes].sort(([a], [b]) => a - b)) {
    const tokens = countTokens(note.text);
    if (tokens > budgetTokens * noteShare) continue;
    const group = groups.findLast(({ messages }) => (messages[0]?.seq ?? 0) <= seq);
    const one = group?.messages.findLast((message) => message.seq <= seq);
    if (group === undefined || one === undefined) {
      if (isComplete) leading.push({ ...note, tokens });
      continue;
    }
    one.notes.push(note);
    one.tokens += tokens;
    group.tokens += tokens;
  }
  return leading;
}

/** Truncates old tool results, and removes idle heartbeats that a compaction has passed. */
export function applyPruning(entries: MessageEntry[], prunedSeq: number, options: AssembleOptions): MessageEntry[] {
  const pruned = pruneOld(entries, prunedSeq);
  return options.withoutHeartbeats ? withoutHeartbeats(pruned, prunedSeq) : pruned;
}
