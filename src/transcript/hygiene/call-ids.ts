import {
  getParts,
  isHosted,
  isJsonObject,
  type JsonValue,
  type Message,
  type Part,
  type ToolCallPart,
  type ToolResultPart,
} from "../../domain/index.ts";
import type { RecordChange } from "./changes.ts";

/** Converts an id to a provider's format; a higher attempt gives a different id, in case the first is taken. */
export type ShapeId = (id: string, name: string, attempt: number) => string;

/** Renames calls and their results to ids that a provider accepts, and keeps them distinct. */
export function renameCalls(messages: readonly Message[], shape: ShapeId, record: RecordChange): Message[] {
  const names = new Map<string, string>();
  for (const part of messages.flatMap((message) => getParts(message))) {
    if (isNamed(part) && !names.has(part.callId)) names.set(part.callId, part.name ?? part.callId);
  }
  const shaped = new Map<string, string>();
  const used = new Set<string>();
  // Valid ids are reserved before new ones are chosen.
  for (const [id, name] of names) {
    if (shape(id, name, 0) !== id) continue;
    shaped.set(id, id);
    used.add(id);
  }
  for (const [id, name] of names) {
    if (shaped.has(id)) continue;
    let attempt = 0;
    while (used.has(shape(id, name, attempt))) attempt += 1;
    const next = shape(id, name, attempt);
    shaped.set(id, next);
    used.add(next);
    record("call-id", undefined, `${id} became ${next}`);
  }
  return messages.map((message) => {
    if (typeof message.content === "string") return message;
    const parts = message.content.map((part) => rename(part, shaped));
    return parts.every((part, index) => part === getParts(message)[index]) ? message : { ...message, content: parts };
  });
}

function isNamed(part: Part): part is ToolCallPart | ToolResultPart {
  return (part.type === "tool_call" || part.type === "tool_result") && !isHosted(part);
}

function rename(part: Part, shaped: ReadonlyMap<string, string>): Part {
  const callId = isNamed(part) ? shaped.get(part.callId) : undefined;
  if (!isNamed(part) || callId === undefined || callId === part.callId) return part;
  const { raw, ...rest } = part;
  // Gemini's blocks may contain a signature, so only the id inside the block is changed.
  if (raw?.format === "google") return { ...rest, callId, raw: { ...raw, block: withId(raw.block, callId) } };
  return { ...rest, callId };
}

function withId(block: JsonValue, id: string): JsonValue {
  if (!isJsonObject(block)) return block;
  const entries = Object.entries(block).map(([key, value]): [string, JsonValue] =>
    (key === "functionCall" || key === "functionResponse") && isJsonObject(value)
      ? [key, { ...value, id }]
      : [key, value],
  );
  return Object.fromEntries(entries);
}
