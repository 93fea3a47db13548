import { canVerifySignatures, getParts, type Message, type Part } from "../../domain/index.ts";
import { dropParts, type RecordChange } from "./changes.ts";

/**
 * The Responses API ties reasoning to the item that follows it. Both are kept with their ids; reasoning without a
 * following item and reasoning of other providers is rejected by the API and dropped here.
 */
export function cleanForOpenai(messages: readonly Message[], record: RecordChange): Message[] {
  const own = dropParts(
    messages,
    (part, message) =>
      part.type === "reasoning" && !isOwn(part, message) ? "another provider's reasoning" : undefined,
    "foreign-reasoning",
    record,
  );
  const followed = findFollowedReasoning(own);
  return dropParts(
    own,
    (part) => (part.type === "reasoning" && !followed.has(part) ? "no item of its turn follows it" : undefined),
    "orphan-reasoning",
    record,
  );
}

function isOwn(part: Part & { type: "reasoning" }, message: Message): boolean {
  if (!canVerifySignatures("openai-responses", message)) return false;
  return part.encrypted !== undefined || message.wire?.format === "openai-responses";
}

/** The reasoning that is followed by another item of the same turn. */
function findFollowedReasoning(messages: readonly Message[]): Set<Part> {
  const followed = new Set<Part>();
  let open: Part[] = [];
  for (const message of messages) {
    if (message.role !== "assistant") open = [];
    else {
      for (const part of getParts(message)) {
        if (part.type === "reasoning") open.push(part);
        else {
          for (const reasoning of open) followed.add(reasoning);
          open = [];
        }
      }
    }
  }
  return followed;
}

const reasoningFields = ["reasoning", "reasoning_content", "reasoning_details", "reasoning_text"];

/** Servers that only imitate OpenAI's API do not accept reasoning. */
export function cleanForCompatible(messages: readonly Message[], record: RecordChange): Message[] {
  const bare = messages.map((message) => dropReasoningFields(message, record));
  return dropParts(
    bare,
    (part) => (part.type === "reasoning" ? "of an earlier turn" : undefined),
    "prior-reasoning",
    record,
  );
}

function dropReasoningFields(message: Message, record: RecordChange): Message {
  if (message.wire?.format !== "openai-chat") return message;
  const kept = Object.entries(message.wire.fields).filter(([key]) => !reasoningFields.includes(key));
  if (kept.length === Object.keys(message.wire.fields).length) return message;
  record("prior-reasoning", message, "in the wire fields of the message");
  return { ...message, wire: { ...message.wire, fields: Object.fromEntries(kept) } };
}
