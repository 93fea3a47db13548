import type { JsonObject } from "./json.ts";
import type { Part, ToolCallPart, ToolResultPart, WireFormat } from "./part.ts";

export type Role = "system" | "user" | "assistant" | "tool";
export const roles: readonly Role[] = ["system", "user", "assistant", "tool"];

/**
 * One message, in the shape it is given, kept and returned: `load(append(m))` equals `m`, part by part.
 * A plain string stays a plain string; parts keep their order.
 */
export interface Message {
  /** The caller's own id. The same id twice in one conversation is stored once. */
  id?: string;
  role: Role;
  content: string | Part[];
  /** Milliseconds since 1970; the time of ingest when absent. */
  time?: number;
  /** Who speaks, in conversations of several people. */
  name?: string;
  provider?: string;
  model?: string;
  usage?: JsonObject;
  stopReason?: string;
  /** What the wire format carries beside all this; a writer for the same format puts it back. */
  wire?: { format: WireFormat; fields: JsonObject };
  /** Whatever the caller wants to keep with it. */
  meta?: JsonObject;
}

/** The parts of a message; plain text is one text part. */
export function getParts(message: Pick<Message, "content">): Part[] {
  return typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
}

export function getToolCalls(message: Pick<Message, "content">): ToolCallPart[] {
  return getParts(message).filter((part) => part.type === "tool_call");
}

export function getToolResults(message: Pick<Message, "content">): ToolResultPart[] {
  return getParts(message).filter((part) => part.type === "tool_result");
}
