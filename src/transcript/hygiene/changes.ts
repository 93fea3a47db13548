import { getParts, type Message, type Part } from "../../domain/index.ts";

/** The families of APIs that want their messages cleaned in different ways. */
export type HygieneProvider = "anthropic" | "openai" | "openai-compatible" | "google" | "mistral";

/** What can be done to a conversation before a model sees it. */
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
  /** The message's own id, where it has one. */
  messageId?: string;
  detail: string;
}

/** Takes down what was done; nothing is changed without a word. */
export type Note = (rule: HygieneRule, message: Message | undefined, detail: string) => void;

/**
 * The message with other parts. What its wire format said beside them may repeat a call that is gone, so Chat
 * Completions' own fields are let go; the other formats keep no part of the content there.
 */
export function withParts(message: Message, content: Part[]): Message {
  if (message.wire?.format !== "openai-chat") return { ...message, content };
  const { wire: _gone, ...rest } = message;
  return { ...rest, content };
}

/** Drops the parts that a test finds, and the messages that have none left. A message without a hit stays the same. */
export function dropParts(
  messages: readonly Message[],
  finds: (part: Part, message: Message) => string | undefined,
  rule: HygieneRule,
  note: Note,
): Message[] {
  return messages.flatMap((message) => {
    const kept = getParts(message).filter((part) => {
      const reason = finds(part, message);
      if (reason !== undefined) note(rule, message, reason);
      return reason === undefined;
    });
    if (kept.length === getParts(message).length) return [message];
    return kept.length === 0 ? [] : [withParts(message, kept)];
  });
}
