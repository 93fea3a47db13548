import { getParts, type Message, trustsSignatures } from "../../domain/index.ts";
import { dropParts, type Note } from "./changes.ts";
import { mergeTurns } from "./merging.ts";

/** Anthropic takes reasoning only as it signed it, none from before a compaction, and none in an answer to go on with. */
export function cleanForAnthropic(
  messages: readonly Message[],
  compactedBefore: number | undefined,
  note: Note,
): Message[] {
  const own = dropParts(
    messages,
    (part, message) =>
      part.type === "reasoning" && !trustsSignatures("anthropic", message) ? "another provider's reasoning" : undefined,
    "foreign-reasoning",
    note,
  );
  const signed = dropParts(
    own,
    (part) =>
      part.type === "reasoning" && !part.signature && !part.encrypted ? "reasoning without a signature" : undefined,
    "unsigned-reasoning",
    note,
  );
  const recent = dropParts(
    signed,
    (part, message) =>
      part.type === "reasoning" && isBefore(message, compactedBefore) ? "signed before the last compaction" : undefined,
    "compacted-reasoning",
    note,
  );
  const settled = dropTrailingReasoning(recent, note);
  return mergeTurns(settled, (first, second) => first.role === "user" && second.role === "user", "anthropic", note);
}

function isBefore(message: Message, compactedBefore: number | undefined): boolean {
  return compactedBefore !== undefined && message.time !== undefined && message.time < compactedBefore;
}

/** An assistant message at the end is a beginning that the model goes on with; it may not hold reasoning. */
function dropTrailingReasoning(messages: Message[], note: Note): Message[] {
  let list = messages;
  for (;;) {
    const last = list.at(-1);
    if (last?.role !== "assistant" || !getParts(last).some((part) => part.type === "reasoning")) return list;
    const find = (part: { type: string }) => (part.type === "reasoning" ? "in the last message" : undefined);
    list = [...list.slice(0, -1), ...dropParts([last], find, "trailing-reasoning", note)];
  }
}
