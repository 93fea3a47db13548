import { type ContextItem, firstMessageIndex, type SummaryItem, sumTokens } from "../items.ts";
import { findToolPairs, isRequest, type ToolPairs } from "../tool-pairs.ts";
import type { CompactionPolicy } from "./policy.ts";

/** The items from `from` up to, not including, `to`. */
export interface Run {
  from: number;
  to: number;
}

export interface CondensedRun extends Run {
  /** The depth of the sources; the summary made from them is one deeper. */
  depth: number;
}

/** The index where the fresh tail starts: items from there on are never compacted. */
export function freshTail(items: readonly ContextItem[], policy: CompactionPolicy): number {
  return findTail(items, policy, findToolPairs(items));
}

/** The oldest messages outside the fresh tail that make one leaf; undefined when there is nothing to take. */
export function planLeafPass(items: readonly ContextItem[], policy: CompactionPolicy): Run | undefined {
  const pairs = findToolPairs(items);
  const from = firstMessageIndex(items);
  const limit = Math.min(findTail(items, policy, pairs), pairs.firstPending, findSessionEnd(items, from, policy));
  let to = from;
  let tokens = 0;
  for (let end = from + 1; end <= limit; end += 1) {
    tokens += items[end - 1]?.tokens ?? 0;
    // A pair larger than the chunk is taken as well, or compaction would never get past it.
    if (tokens > policy.leafChunkTokens && to > from) break;
    if (pairs.isCleanCut(end)) to = end;
  }
  return to > from ? { from, to } : undefined;
}

/** The index of the first message that may not be in one leaf with the message at `from`. */
function findSessionEnd(items: readonly ContextItem[], from: number, policy: CompactionPolicy): number {
  const first = items[from];
  const { barrierSeq = 0, endSeq = Number.POSITIVE_INFINITY } = policy;
  const isEarlier = first?.kind === "message" && first.seq < barrierSeq;
  const end = Math.min(endSeq, isEarlier ? barrierSeq : Number.POSITIVE_INFINITY);
  const index = items.findIndex((item) => item.kind === "message" && item.seq >= end);
  return index === -1 ? items.length : index;
}

/** The oldest run of enough neighbours at the lowest depth that has one. */
export function planCondensedPass(
  items: readonly ContextItem[],
  policy: CompactionPolicy,
  options: { hard?: boolean; maxDepth?: number; isSkipped?: (run: CondensedRun) => boolean } = {},
): CondensedRun | undefined {
  const maxDepth = options.maxDepth ?? Number.MAX_SAFE_INTEGER;
  let best: CondensedRun | undefined;
  for (const run of runsOfOneDepth(items, policy.barrierSeq)) {
    const fanout = Math.max(2, fanoutAt(run.depth, policy, options.hard === true));
    if (run.to - run.from < fanout || run.depth + 1 > maxDepth) continue;
    if (best !== undefined && run.depth >= best.depth) continue;
    const bounded = { ...run, to: boundRun(items, run, fanout, policy) };
    if (options.isSkipped?.(bounded) !== true) best = bounded;
  }
  return best;
}

/** Whether the raw messages outside the fresh tail are enough for a leaf, and one can be made. */
export function leafDue(items: readonly ContextItem[], policy: CompactionPolicy): boolean {
  const raw = sumTokens(items, firstMessageIndex(items), freshTail(items, policy));
  return raw >= policy.leafChunkTokens && planLeafPass(items, policy) !== undefined;
}

/** Whether a context of this size exceeds the threshold of the budget. */
export function thresholdReached(
  tokens: number,
  budget: number,
  policy: Pick<CompactionPolicy, "contextThreshold" | "reserveTokens">,
): boolean {
  const reserve = Math.min(policy.reserveTokens, budget / 4);
  return tokens > policy.contextThreshold * budget || tokens > budget - reserve;
}

function findTail(items: readonly ContextItem[], policy: CompactionPolicy, pairs: ToolPairs): number {
  const first = firstMessageIndex(items);
  const maxTokens = policy.freshTailMaxTokens ?? Number.POSITIVE_INFINITY;
  const size = (index: number) =>
    Math.min(items[index]?.tokens ?? 0, policy.messageTokensMax ?? Number.POSITIVE_INFINITY);
  let start = items.length;
  let tokens = 0;
  while (start > first && items.length - start < policy.freshTailCount) {
    tokens += size(start - 1);
    if (tokens > maxTokens) break;
    start -= 1;
  }
  const newestRequest = policy.tailHoldsNewestUser ? items.findLastIndex(isRequest) : -1;
  if (newestRequest !== -1 && newestRequest < start) {
    let turn = 0;
    for (let index = newestRequest; index < items.length; index += 1) turn += size(index);
    if (turn <= 2 * (policy.freshTailMaxTokens ?? policy.leafChunkTokens) || start === items.length)
      start = newestRequest;
  }
  while (start > first && !pairs.isCleanCut(start)) start -= 1;
  return start;
}

function fanoutAt(depth: number, policy: CompactionPolicy, hard: boolean): number {
  if (hard) return policy.condensedMinFanoutHard;
  return depth === 0 ? policy.leafMinFanout : policy.condensedMinFanout;
}

/**
 * Splits a long run into portions of the normal fan-out: the more summaries one stands for, the less it says of each. They
 * must also fit what a summariser can read.
 */
function boundRun(items: readonly ContextItem[], run: CondensedRun, fanout: number, policy: CompactionPolicy): number {
  const most = Math.min(run.to, run.from + Math.max(fanout, fanoutAt(run.depth, policy, false)));
  let to = run.from + fanout;
  let tokens = sumTokens(items, run.from, to);
  while (to < most) {
    tokens += items[to]?.tokens ?? 0;
    if (tokens > policy.leafChunkTokens) break;
    to += 1;
  }
  return to;
}

/** Neighbours of one depth, on one side of a session's beginning. */
function* runsOfOneDepth(items: readonly ContextItem[], barrierSeq = 0): Generator<CondensedRun> {
  const end = firstMessageIndex(items);
  const isEarlier = (index: number) => ((items[index] as SummaryItem | undefined)?.firstSeq ?? 0) < barrierSeq;
  let from = 0;
  for (let to = 1; to <= end; to += 1) {
    const depth = depthAt(items, from);
    if (to < end && depthAt(items, to) === depth && isEarlier(to) === isEarlier(from)) continue;
    yield { from, to, depth };
    from = to;
  }
}

function depthAt(items: readonly ContextItem[], index: number): number {
  return (items[index] as SummaryItem | undefined)?.depth ?? 0;
}
