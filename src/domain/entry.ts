import type { JsonObject, JsonValue } from "./json.ts";
import type { Message } from "./message.ts";

/**
 * The transcript is a tree of entries. Each has a parent and an id that is unique in its conversation. The model sees
 * the active branch, from a root to the head.
 */
export type EntryBody =
  /** Opens a transcript: one per session id of a conversation. */
  | { type: "session"; cwd?: string; parentSession?: string }
  /** A message of a person, a model or a tool. */
  | { type: "message"; message: Message }
  /** A message inserted by a program: visible to the model, optionally hidden from people. */
  | { type: "custom_message"; customType: string; message: Message; hidden?: boolean }
  /** State that never enters the context. */
  | { type: "custom"; customType: string; data: JsonValue }
  /** From here on, a summary replaces everything before `firstKeptId`. */
  | { type: "compaction"; summary: string; firstKeptId?: string | null; tokensBefore?: number; tokensAfter?: number }
  /** A summary of an abandoned branch. */
  | { type: "branch_summary"; summary: string; fromId?: string | null }
  /** The conversation was renewed or archived; contains enough to undo it. */
  | { type: "reset"; mode: ResetKind; reason: string; fromSessionId: string; toSessionId: string }
  | { type: "model_change"; provider?: string; model: string }
  | { type: "label"; targetId: string; label: string | null };

/** `new` keeps the conversation and opens another session id; `reset` archives it and starts an empty one. */
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

/**
 * An entry to append. Defaults: a generated `id`, the current `time`, and the head of the active branch as `parentId`.
 */
export type EntryDraft = EntryBody & {
  id?: string;
  parentId?: string | null;
  time?: number;
  /** Fields of the source that have no equivalent above, stored unchanged. */
  extra?: JsonObject;
  trust?: EntryTrust;
};

/**
 * `untrusted`: it came in by a way that does not show who wrote it, or from somebody else than the session's person. It is
 * part of the conversation, and nothing is learned from it about that person.
 */
export type EntryTrust = "untrusted";

/** An entry read from the log. */
export type Entry = EntryBody & {
  id: string;
  parentId: string | null;
  time: number;
  extra?: JsonObject;
  trust?: EntryTrust;
  /** The number of the entry in the store; it increases with every append. `msg#<seq>` is its citation. */
  seq: number;
  /** The session id of its transcript. */
  sessionId: string;
  tokens: number;
};
