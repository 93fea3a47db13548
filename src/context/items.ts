import type { Role } from "../domain/index.ts";

/** A message of the context, as the planner needs it. */
export interface MessageItem {
  kind: "message";
  seq: number;
  tokens: number;
  role: Role;
  /** The ids of the tool calls it makes, and of those it answers. */
  calls: readonly string[];
  results: readonly string[];
  /** The turn was aborted: its calls will get no results. */
  aborted?: boolean;
  time: number;
}

export interface SummaryItem {
  kind: "summary";
  id: string;
  depth: number;
  tokens: number;
  earliestAt: number;
  latestAt: number;
  /** The first entry it covers. */
  firstSeq?: number;
}

/** One item of the context. The list is in order: first the summaries, then the messages. */
export type ContextItem = MessageItem | SummaryItem;

/** The index of the first message, after the summaries. */
export function firstMessageIndex(items: readonly ContextItem[]): number {
  const found = items.findIndex((item) => item.kind === "message");
  return found === -1 ? items.length : found;
}

export function sumTokens(items: readonly ContextItem[], from = 0, to = items.length): number {
  let tokens = 0;
  for (let index = from; index < to; index += 1) tokens += items[index]?.tokens ?? 0;
  return tokens;
}

/** Whether an item is in the view, and why. */
export interface TraceItem {
  kind: "summary" | "message" | "recall" | "memory" | "note";
  id: string;
  tokens: number;
  in: boolean;
  why: string;
  /** Of a summary: the range of the log that it covers. */
  firstSeq?: number;
  lastSeq?: number;
  /** Of a summary: 0 for a leaf. */
  depth?: number;
}
