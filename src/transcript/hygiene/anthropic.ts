import { canVerifySignatures, getParts, type Message } from "../../domain/index.ts";
import { dropParts, mergeTurns, type RecordChange } from "./changes.ts";

/**
 * Anthropic accepts only reasoning that it signed itself, none from before a compaction, and none in a trailing
 * assistant message.
 */
export function cleanForAnthropic(
  messages: readonly Message[],
  compactedBefore: number | undefined,
  record: RecordChange,
): Message[] {
  const own = dropParts(
    messages,
    (part, message) =>
      part.type === "reasoning" && !canVerifySignatures("anthropic", message)
        ? "another provider's reasoning"
        : undefined,
    "foreign-reasoning",
    record,
  );
  const signed = dropParts(
    own,
    (part) =>
      part.type === "reasoning" && !part.signature && !part.encrypted ? "reasoning without a signature" : undefined,
    "unsigned-reasoning",
    record,
  );
  const recent = dropParts(
    signed,
    (part, message) =>
      part.type === "reasoning" && isBefore(message, compactedBefore) ? "signed before the last compaction" : undefined,
    "compacted-reasoning",
    record,
  );
  const settled = dropTrailingReasoning(recent, record);
  return mergeTurns(settled, (first, second) => first.role === "user" && second.role === "user", "anthropic", record);
}

function isBefore(message: Message, compactedBefore: number | undefined): boolean {
  return compactedBefore !== undefined && message.time !== undefined && message.time < compactedBefore;
}

/** A trailing assistant message is a prefix for the model to continue; it must not contain reasoning. */
function dropTrailingReasoning(messages: Message[], record: RecordChange): Message[] {
  let list = messages;
  for (;;) {
    const last = list.at(-1);
    if (last?.role !== "assistant" || !getParts(last).some((part) => part.type === "reasoning")) return list;
    const find = (part: { type: string }) => (part.type === "reasoning" ? "in the last message" : undefined);
    list = [...list.slice(0, -1), ...dropParts([last], find, "trailing-reasoning", record)];
  }
}
