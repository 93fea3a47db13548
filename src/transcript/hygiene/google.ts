import { canVerifySignatures, type Message } from "../../domain/index.ts";
import { renameCalls } from "./call-ids.ts";
import { dropParts, mergeTurns, type RecordChange } from "./changes.ts";

/** The first message of a conversation whose beginning is missing. */
const leadingText = "(The conversation continues from an earlier point.)";

/** Gemini requires alphanumeric ids, alternating turns, and a user turn first. */
export function cleanForGoogle(messages: readonly Message[], record: RecordChange): Message[] {
  const own = dropParts(
    messages,
    (part, message) =>
      part.type === "reasoning" && !canVerifySignatures("google", message) ? "another provider's reasoning" : undefined,
    "foreign-reasoning",
    record,
  );
  const named = renameCalls(own, toAlphanumericId, record);
  const turns = mergeTurns(named, (first, second) => getSpeaker(first) === getSpeaker(second), "google", record);
  const start = turns.findIndex((message) => message.role !== "system");
  if (turns[start]?.role !== "assistant") return turns;
  record("leading-turn", turns[start], "a user message was inserted before it");
  return [...turns.slice(0, start), { role: "user", content: leadingText }, ...turns.slice(start)];
}

function getSpeaker(message: Message): "model" | "user" {
  return message.role === "assistant" ? "model" : "user";
}

/** A call without an id is identified by its name, which is not sent as an id. */
function toAlphanumericId(id: string, name: string, attempt: number): string {
  if (attempt === 0 && (id === name || /^[a-zA-Z0-9]+$/.test(id))) return id;
  return `${id.replace(/[^a-zA-Z0-9]/g, "") || "call"}${attempt === 0 ? "" : attempt}`;
}
