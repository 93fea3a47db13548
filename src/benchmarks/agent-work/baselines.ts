import type { Entry, Message } from "../../index.ts";

export type MessageEntry = Extract<Entry, { type: "message" }>;

/** A view of a baseline, with its tokens. */
export interface BaselineView {
  messages: Message[];
  tokens: number;
}

export function listMessages(entries: readonly Entry[]): MessageEntry[] {
  return entries.filter((entry) => entry.type === "message");
}

/** The newest messages that fit, and nothing else. */
export function takeNewestWindow(entries: readonly Entry[], budgetTokens: number): BaselineView {
  const messages: Message[] = [];
  let tokens = 0;
  for (const entry of listMessages(entries).toReversed()) {
    if (tokens + entry.tokens > budgetTokens) break;
    tokens += entry.tokens;
    messages.unshift(entry.message);
  }
  return { messages, tokens };
}
