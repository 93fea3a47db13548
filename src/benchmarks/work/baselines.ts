import { type Entry, estimateTokens, extractiveSummary, getEntryText, type Message } from "../../index.ts";
import { listParts } from "./steps.ts";

type MessageEntry = Extract<Entry, { type: "message" }>;

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

const summaryTokens = 512;
const leafTokensMax = 20_000;
const leavesCondensed = 8;

interface Summary {
  time: number;
  text: string;
  sourceTokens: number;
}

/**
 * The summariser as it was before it kept work state: sentences of 512 tokens for each leaf, eight leaves condensed into
 * one. The view is the newest messages up to half of the budget, then the summaries that fit, the newest first.
 */
export function assemblePrevious(entries: readonly Entry[], budgetTokens: number): BaselineView {
  const messages = listMessages(entries);
  const total = messages.reduce((sum, entry) => sum + entry.tokens, 0);
  if (total <= budgetTokens) return { messages: messages.map((entry) => entry.message), tokens: total };
  const tailStart = findTailStart(messages, budgetTokens / 2);
  const request = findNewestRequest(messages, tailStart);
  const tail = messages.slice(tailStart);
  let tokens = [...request, ...tail].reduce((sum, entry) => sum + entry.tokens, 0);
  const leaves = writeLeaves(messages.slice(0, tailStart), Math.min(leafTokensMax, budgetTokens / 2));
  const shown: Message[] = [];
  for (const { text } of condense(leaves).toReversed()) {
    const size = estimateTokens(text);
    if (tokens + size > budgetTokens) break;
    tokens += size;
    shown.unshift({ role: "user", content: text });
  }
  return { messages: [...shown, ...request.map((one) => one.message), ...tail.map((one) => one.message)], tokens };
}

function findTailStart(messages: readonly MessageEntry[], tokensMax: number): number {
  let tokens = 0;
  let start = messages.length;
  while (start > 0) {
    tokens += messages[start - 1]?.tokens ?? 0;
    if (tokens > tokensMax) return start;
    start -= 1;
  }
  return start;
}

/** The newest message that a person wrote, when the tail does not contain it. */
function findNewestRequest(messages: readonly MessageEntry[], tailStart: number): MessageEntry[] {
  const at = messages.findLastIndex(
    ({ message }) => message.role === "user" && listParts(message).some((part) => part.type === "text"),
  );
  const found = messages[at];
  return found === undefined || at >= tailStart ? [] : [found];
}

function writeLeaves(messages: readonly MessageEntry[], leafTokens: number): Summary[] {
  const leaves: Summary[] = [];
  let portion: MessageEntry[] = [];
  let tokens = 0;
  const finish = () => {
    if (portion.length > 0) leaves.push(writeLeaf(portion, tokens, leaves.at(-1)?.text));
    portion = [];
    tokens = 0;
  };
  for (const entry of messages) {
    if (tokens + entry.tokens > leafTokens) finish();
    portion.push(entry);
    tokens += entry.tokens;
  }
  finish();
  return leaves;
}

function writeLeaf(portion: readonly MessageEntry[], sourceTokens: number, previousSummary?: string): Summary {
  const turns = portion.map((entry) => {
    const toolNames = listParts(entry.message).flatMap((part) => (part.type === "tool_call" ? [part.name] : []));
    const { role, name } = entry.message;
    return { time: entry.time, speaker: name ?? role, role, text: getEntryText(entry), toolNames };
  });
  const text = extractiveSummary({ depth: 0, turns, previousSummary, sourceTokens, targetTokens: summaryTokens });
  return { time: portion[0]?.time ?? 0, text, sourceTokens };
}

function condense(leaves: readonly Summary[]): Summary[] {
  const condensed: Summary[] = [];
  let at = 0;
  for (; at + leavesCondensed <= leaves.length; at += leavesCondensed) {
    const sources = leaves.slice(at, at + leavesCondensed);
    const turns = sources.map(({ time, text }) => ({ time, speaker: "summary", role: "user" as const, text }));
    const sourceTokens = sources.reduce((sum, one) => sum + one.sourceTokens, 0);
    const text = extractiveSummary({ depth: 1, turns, sourceTokens, targetTokens: summaryTokens });
    condensed.push({ time: sources[0]?.time ?? 0, text, sourceTokens });
  }
  return [...condensed, ...leaves.slice(at)];
}
