import { getToolResults, type Message, type Part } from "../../domain/index.ts";
import { estimateMessageTokens } from "../../text/index.ts";
import { trimResult } from "./prune.ts";

export interface Fitted {
  messages: Message[];
  tokens: number;
  /** How many tool results were truncated. */
  trimmed: number;
  /** Whether it fits now; if not, the conversation must be compacted. */
  fits: boolean;
  /** The budget. */
  budgetTokens: number;
}

/** How many characters of each end of a result are kept, tried in this order. */
const keptSteps = [8_000, 4_000, 2_000, 1_000];
/** How many messages keep their results when nothing else helps. */
const resultsKept = 2;

/** Makes a prompt fit inside a turn by truncating its largest tool results, old and new. */
export function fitMidTurn(messages: Message[], budgetTokens: number, trims = true): Fitted {
  let current = messages;
  for (const kept of trims ? keptSteps : []) {
    const tokens = total(current);
    if (tokens <= budgetTokens)
      return { messages: current, tokens, trimmed: countChanged(messages, current), fits: true, budgetTokens };
    current = messages.map((message) => trimmed(message, kept));
  }
  if (trims && total(current) > budgetTokens) current = cleared(current);
  const tokens = total(current);
  return {
    messages: current,
    tokens,
    trimmed: countChanged(messages, current),
    fits: tokens <= budgetTokens,
    budgetTokens,
  };
}

/** The last fallback: all results but the newest are replaced by a note. */
function cleared(messages: Message[]): Message[] {
  const withResults = messages.flatMap((message, index) => (getToolResults(message).length > 0 ? [index] : []));
  const kept = new Set(withResults.slice(-resultsKept));
  return messages.map((message, index) => {
    if (kept.has(index) || typeof message.content === "string") return message;
    const content = message.content.map((part): Part => {
      if (part.type !== "tool_result") return part;
      const { raw: _, ...rest } = part;
      return { ...rest, output: "[cleared to fit the window; the whole is in the transcript]" };
    });
    return getToolResults(message).length > 0 ? { ...message, content } : message;
  });
}

function trimmed(message: Message, kept: number): Message {
  if (typeof message.content === "string") return message;
  const content = message.content.map((part) =>
    part.type === "tool_result" ? trimResult(part, kept, "the whole is in the transcript") : part,
  );
  return content.every((part, index) => part === message.content[index]) ? message : { ...message, content };
}

function total(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + estimateMessageTokens(message), 0);
}

function countChanged(before: readonly Message[], after: readonly Message[]): number {
  return after.filter((message, index) => message !== before[index]).length;
}
