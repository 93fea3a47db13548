import type { ContextItem, MessageItem } from "./items.ts";

/** Where a list can be split without separating a tool call from its result, and the first open call. */
export interface ToolPairs {
  /** Whether the list can be split before this index. */
  isCleanCut(index: number): boolean;
  /** The index of the first message with a pending call; the length of the list when there is none. */
  firstPending: number;
}

interface Call {
  at: number;
  result?: number;
}

/** Finds the pairs of calls and results in a list of items, in one pass over it. */
export function findToolPairs(items: readonly ContextItem[]): ToolPairs {
  const calls = matchCalls(items);
  const crossing = new Int32Array(items.length + 2);
  for (const { at, result } of calls) {
    if (result === undefined) continue;
    // A pair from i to j is separated by every index from i + 1 to j.
    const [first, last] = at < result ? [at, result] : [result, at];
    crossing[first + 1] = (crossing[first + 1] ?? 0) + 1;
    crossing[last + 1] = (crossing[last + 1] ?? 0) - 1;
  }
  for (let index = 1; index < crossing.length; index += 1) {
    crossing[index] = (crossing[index] ?? 0) + (crossing[index - 1] ?? 0);
  }
  const abandonedBefore = findAbandoned(items);
  const pending = calls.filter((call) => call.result === undefined && call.at >= abandonedBefore);
  const open = pending.map((call) => call.at).filter((at) => !isAborted(items[at]));
  return {
    isCleanCut: (index) => crossing[index] === 0,
    firstPending: open.reduce((first, at) => Math.min(first, at), items.length),
  };
}

/**
 * Ids may be reused, so a result belongs to the newest pending call before it. A result before every call of its id is
 * matched last, with the calls after it, as the hygiene for providers does.
 */
function matchCalls(items: readonly ContextItem[]): Call[] {
  const calls: Call[] = [];
  const byId = new Map<string, Call[]>();
  const early: { id: string; at: number }[] = [];
  for (const [at, item] of items.entries()) {
    if (item.kind !== "message") continue;
    for (const id of item.results) {
      const waiting = byId.get(id);
      const call = waiting?.pop();
      if (call !== undefined) call.result = at;
      else if (waiting === undefined) early.push({ id, at });
    }
    for (const id of item.calls) {
      const call: Call = { at };
      calls.push(call);
      const waiting = byId.get(id);
      if (waiting === undefined) byId.set(id, [call]);
      else waiting.push(call);
    }
  }
  // Pending calls are reversed once, so that taking the first one stays cheap.
  const unanswered = new Map(early.map(({ id }) => [id, byId.get(id)?.toReversed() ?? []]));
  for (const { id, at } of early) {
    const call = unanswered.get(id)?.pop();
    if (call !== undefined) call.result = at;
  }
  return calls;
}

/**
 * Calls before this index will never get a result: a user message and a reply to it followed. One lost result must not
 * prevent a conversation from ever being compacted.
 */
function findAbandoned(items: readonly ContextItem[]): number {
  const lastAnswer = items.findLastIndex((item) => item.kind === "message" && item.role === "assistant");
  const request = items.findLastIndex((item, index) => index < lastAnswer && isRequest(item));
  return Math.max(0, request);
}

/** Some formats carry tool results in user messages; those are not requests. */
export function isRequest(item: ContextItem): item is MessageItem {
  return item.kind === "message" && item.role === "user" && item.results.length === 0;
}

function isAborted(item: ContextItem | undefined): boolean {
  return item?.kind === "message" && item.aborted === true;
}
