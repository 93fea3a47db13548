import { type Message, trustsSignatures } from "../../domain/index.ts";
import { renameCalls } from "./call-ids.ts";
import { dropParts, type Note } from "./changes.ts";
import { mergeTurns } from "./merging.ts";

/** What stands at the start of a conversation whose beginning is gone. */
const leadingText = "(The conversation continues from an earlier point.)";

/** Gemini wants plain ids, turns that alternate, and a user to begin with. */
export function cleanForGoogle(messages: readonly Message[], note: Note): Message[] {
  const own = dropParts(
    messages,
    (part, message) =>
      part.type === "reasoning" && !trustsSignatures("google", message) ? "another provider's reasoning" : undefined,
    "foreign-reasoning",
    note,
  );
  const named = renameCalls(own, plainId, note);
  const turns = mergeTurns(named, (first, second) => speaker(first) === speaker(second), "google", note);
  const start = turns.findIndex((message) => message.role !== "system");
  if (turns[start]?.role !== "assistant") return turns;
  note("leading-turn", turns[start], "a user message was put before it");
  return [...turns.slice(0, start), { role: "user", content: leadingText }, ...turns.slice(start)];
}

function speaker(message: Message): "model" | "user" {
  return message.role === "assistant" ? "model" : "user";
}

/** A call without an id of its own is known by its name, and its name is not sent as an id. */
function plainId(id: string, name: string, attempt: number): string {
  if (attempt === 0 && (id === name || /^[a-zA-Z0-9]+$/.test(id))) return id;
  return `${id.replace(/[^a-zA-Z0-9]/g, "") || "call"}${attempt === 0 ? "" : attempt}`;
}
