import { getParts, type Message, type Part, type WireFormat } from "../../domain/index.ts";
import type { Note } from "./changes.ts";

/** Joins neighbours that a test finds alike; instructions between them, which are sent apart, do not part them. */
export function mergeTurns(
  messages: readonly Message[],
  isAlike: (first: Message, second: Message) => boolean,
  format: WireFormat,
  note: Note,
): Message[] {
  const merged: Message[] = [];
  for (const message of messages) {
    const index = merged.findLastIndex((earlier) => earlier.role !== "system");
    const before = merged[index];
    if (message.role === "system" || before === undefined || !isAlike(before, message)) {
      merged.push(message);
      continue;
    }
    note("merged-turns", message, `a ${message.role} message joined the ${before.role} message before it`);
    const joined = join(before, message, format);
    // Results must stay where their call is, so what a user adds joins them there; an answer joins the later one, which may end in calls.
    if (message.role === "assistant") merged.push(...merged.splice(index).slice(1), joined);
    else merged[index] = joined;
  }
  return merged;
}

/** The first one's fields with both contents, ended as the second one ended. The format is kept, and only that, so that signatures stay trusted. */
function join(first: Message, second: Message, format: WireFormat): Message {
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
