import type { Role } from "../domain/index.ts";

/** A message of the context, as far as planning has to know it. */
export interface MessageItem {
  kind: "message";
  seq: number;
  tokens: number;
  role: Role;
  /** The ids of the tool calls it makes, and of those it answers. */
  calls: readonly string[];
  results: readonly string[];
  /** The turn was broken off: nobody will answer its calls. */
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
}

/** One entry of what the model sees. The list is in order: first the summaries, then the messages. */
export type ContextItem = MessageItem | SummaryItem;

/** Where the messages begin: right behind the summaries. */
export function firstMessageIndex(items: readonly ContextItem[]): number {
  const found = items.findIndex((item) => item.kind === "message");
  return found === -1 ? items.length : found;
}

export function sumTokens(items: readonly ContextItem[], from = 0, to = items.length): number {
  let tokens = 0;
  for (let index = from; index < to; index += 1) tokens += items[index]?.tokens ?? 0;
  return tokens;
}

/** What became of one item of the context, and why. */
export interface TraceItem {
  kind: "summary" | "message" | "recall" | "memory" | "note";
  id: string;
  tokens: number;
  in: boolean;
  why: string;
}
