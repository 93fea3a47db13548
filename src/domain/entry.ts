import type { JsonObject, JsonValue } from "./json.ts";
import type { Message } from "./message.ts";

/**
 * The transcript is a tree of entries. Each has an id that is unique in its conversation, and a parent;
 * the active branch, from a root to the head, is what the model sees.
 */
export type EntryBody =
  /** Opens a transcript: one for every session id of a conversation. */
  | { type: "session"; cwd?: string; parentSession?: string }
  /** Something a person, a model or a tool said. */
  | { type: "message"; message: Message }
  /** A message that a program put in: the model sees it, people may not. */
  | { type: "custom_message"; customType: string; message: Message; hidden?: boolean }
  /** State that never enters the context. */
  | { type: "custom"; customType: string; data: JsonValue }
  /** A summary stood in for everything before `firstKeptId` from here on. */
  | { type: "compaction"; summary: string; firstKeptId?: string | null; tokensBefore?: number; tokensAfter?: number }
  /** What happened on a branch that was left. */
  | { type: "branch_summary"; summary: string; fromId?: string | null }
  /** The conversation was renewed or archived; says enough to undo it. */
  | { type: "reset"; mode: ResetKind; reason: string; fromSessionId: string; toSessionId: string }
  | { type: "model_change"; provider?: string; model: string }
  | { type: "label"; targetId: string; label: string | null };

/** `new` keeps the conversation and opens another session id; `reset` archives it and begins a fresh one. */
export type ResetKind = "new" | "reset";

export type EntryType = EntryBody["type"];
export const entryTypes = [
  "session",
  "message",
  "custom_message",
  "custom",
  "compaction",
  "branch_summary",
  "reset",
  "model_change",
  "label",
] as const satisfies readonly EntryType[];

/** What a caller hands over. Absent: `id` is made, `time` is now, `parentId` is the head of the active branch. */
export type EntryDraft = EntryBody & {
  id?: string;
  parentId?: string | null;
  time?: number;
  /** Fields of the source that have no place above, kept as they came. */
  extra?: JsonObject;
};

/** What the log gives back. */
export type Entry = EntryBody & {
  id: string;
  parentId: string | null;
  time: number;
  extra?: JsonObject;
  /** The entry's number in the store: it grows with every append. `msg#<seq>` is its citation. */
  seq: number;
  /** The session id whose transcript it belongs to. */
  sessionId: string;
  tokens: number;
};
