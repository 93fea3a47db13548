import { getParts, type Message, type Part, trustsSignatures } from "../../domain/index.ts";
import { dropParts, type Note } from "./changes.ts";

/**
 * The Responses API ties reasoning to the item that follows it. Both stay as they are, with their ids; reasoning that
 * nothing follows is refused, and so is another provider's.
 */
export function cleanForOpenai(messages: readonly Message[], note: Note): Message[] {
  const own = dropParts(
    messages,
    (part, message) =>
      part.type === "reasoning" && !isOwn(part, message) ? "another provider's reasoning" : undefined,
    "foreign-reasoning",
    note,
  );
  const followed = followedReasoning(own);
  return dropParts(
    own,
    (part) => (part.type === "reasoning" && !followed.has(part) ? "nothing of its turn follows it" : undefined),
    "orphan-reasoning",
    note,
  );
}

function isOwn(part: Part & { type: "reasoning" }, message: Message): boolean {
  if (!trustsSignatures("openai-responses", message)) return false;
  return part.encrypted !== undefined || message.wire?.format === "openai-responses";
}

/** Reasoning that has, in its own turn, something behind it that the model said or did. */
function followedReasoning(messages: readonly Message[]): Set<Part> {
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

/** Servers that only speak like OpenAI do not take back what a model thought. */
export function cleanForCompatible(messages: readonly Message[], note: Note): Message[] {
  const bare = messages.map((message) => withoutReasoningFields(message, note));
  return dropParts(
    bare,
    (part) => (part.type === "reasoning" ? "of an earlier turn" : undefined),
    "prior-reasoning",
    note,
  );
}

function withoutReasoningFields(message: Message, note: Note): Message {
  if (message.wire?.format !== "openai-chat") return message;
  const kept = Object.entries(message.wire.fields).filter(([key]) => !reasoningFields.includes(key));
  if (kept.length === Object.keys(message.wire.fields).length) return message;
  note("prior-reasoning", message, "in the fields beside its content");
  return { ...message, wire: { ...message.wire, fields: Object.fromEntries(kept) } };
}
