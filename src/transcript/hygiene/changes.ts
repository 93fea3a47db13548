import { getParts, type Message, type Part, type WireFormat } from "../../domain/index.ts";

/** API families with different rules for messages. */
export type HygieneProvider = "anthropic" | "openai" | "openai-compatible" | "google" | "mistral";

/** The changes that cleaning can make to a conversation. */
export type HygieneRule =
  | "blank-block"
  | "blank-message"
  | "misplaced-block"
  | "call-without-input"
  | "aborted-call"
  | "split-answer"
  | "displaced-result"
  | "missing-result"
  | "orphan-result"
  | "duplicate-result"
  | "foreign-reasoning"
  | "unsigned-reasoning"
  | "compacted-reasoning"
  | "trailing-reasoning"
  | "orphan-reasoning"
  | "prior-reasoning"
  | "merged-turns"
  | "leading-turn"
  | "call-id";

export interface HygieneChange {
  rule: HygieneRule;
  /** The id of the message, if it has one. */
  messageId?: string;
  detail: string;
}

/** Records a change; nothing is changed silently. */
export type RecordChange = (rule: HygieneRule, message: Message | undefined, detail: string) => void;

/**
 * Replaces the parts of a message. The wire fields of Chat Completions may repeat a removed call, so they are dropped;
 * other formats store no content there.
 */
export function withParts(message: Message, content: Part[]): Message {
  if (message.wire?.format !== "openai-chat") return { ...message, content };
  const { wire: _gone, ...rest } = message;
  return { ...rest, content };
}

/**
 * Drops matching parts, and messages that have no parts left. Messages without a match are returned as the same object.
 */
export function dropParts(
  messages: readonly Message[],
  findReason: (part: Part, message: Message) => string | undefined,
  rule: HygieneRule,
  record: RecordChange,
): Message[] {
  return messages.flatMap((message) => {
    const kept = getParts(message).filter((part) => {
      const reason = findReason(part, message);
      if (reason !== undefined) record(rule, message, reason);
      return reason === undefined;
    });
    if (kept.length === getParts(message).length) return [message];
    return kept.length === 0 ? [] : [withParts(message, kept)];
  });
}

/**
 * Merges adjacent messages that `isAlike` accepts. System messages in between are ignored, because they are sent
 * separately.
 */
export function mergeTurns(
  messages: readonly Message[],
  isAlike: (first: Message, second: Message) => boolean,
  format: WireFormat,
  record: RecordChange,
): Message[] {
  const merged: Message[] = [];
  for (const message of messages) {
    const index = merged.findLastIndex((earlier) => earlier.role !== "system");
    const before = merged[index];
    if (message.role === "system" || before === undefined || !isAlike(before, message)) {
      merged.push(message);
      continue;
    }
    record("merged-turns", message, `a ${message.role} message was merged into the ${before.role} message before it`);
    const joined = mergeMessages(before, message, format);
    // Results must stay next to their call, so user content is merged into the earlier message; assistant content into
    // the later one, which may end in calls.
    if (message.role === "assistant") merged.push(...merged.splice(index).slice(1), joined);
    else merged[index] = joined;
  }
  return merged;
}

/**
 * Keeps the fields of the first message and the end of the second. Of the wire record only the format is kept, so that
 * signatures stay trusted.
 */
function mergeMessages(first: Message, second: Message, format: WireFormat): Message {
  const { wire: firstWire, name, stopReason: _replaced, ...rest } = first;
  const content: Part[] = [...getParts(first), ...getParts(second)];
  const isOwn = firstWire?.format === format || second.wire?.format === format;
  return {
    ...rest,
    role: first.role === second.role ? first.role : "user",
    content,
    ...(name !== undefined && name === second.name ? { name } : {}),
    ...(second.stopReason === undefined ? {} : { stopReason: second.stopReason }),
    ...(isOwn ? { wire: { format, fields: {} } } : {}),
  };
}
