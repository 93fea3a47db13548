import type { JsonObject, JsonValue } from "./json.ts";

export type Role = "system" | "user" | "assistant" | "tool";
export const roles: readonly Role[] = ["system", "user", "assistant", "tool"];

/**
 * One message, in the format it is received, stored and returned: `load(append(m))` equals `m`, part by part. A plain
 * string stays a plain string; parts keep their order.
 */
export interface Message {
  /** The caller's id. A second message with the same id in a conversation is not stored again. */
  id?: string;
  role: Role;
  content: string | Part[];
  /** Milliseconds since 1970; defaults to the time of ingest. */
  time?: number;
  /** The speaker, in conversations of several people. */
  name?: string;
  provider?: string;
  model?: string;
  usage?: JsonObject;
  stopReason?: string;
  /**
   * Fields of the wire format that have no equivalent above; restored when the message is written in the same format.
   */
  wire?: { format: WireFormat; fields: JsonObject };
  /** Arbitrary data of the caller, stored with the message. */
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

/** The wire formats whose messages are reproduced exactly. */
export type WireFormat = "anthropic" | "openai-chat" | "openai-responses" | "google" | "pi" | "ai-sdk";

/**
 * The provider's original block, stored when the typed fields cannot reproduce it completely. Writing in the same
 * format returns `block` unchanged; everything else uses the typed fields.
 */
export interface RawBlock {
  format: WireFormat;
  block: JsonValue;
}

interface PartBase {
  raw?: RawBlock;
}

/** Where the bytes of a file or image are: inline, at a URL, or at a provider under an id. */
export type MediaSource =
  | { kind: "base64"; data: string }
  | { kind: "url"; url: string }
  | { kind: "text"; text: string }
  | { kind: "file_id"; fileId: string };

export interface TextPart extends PartBase {
  type: "text";
  text: string;
}

/** Reasoning of a model. `signature` and `encrypted` are opaque and must be sent back unchanged. */
export interface ReasoningPart extends PartBase {
  type: "reasoning";
  text: string;
  signature?: string;
  encrypted?: string;
}

/** `inputText` is the exact text of the arguments where the provider sends text; it may be invalid JSON. */
export interface ToolCallPart extends PartBase {
  type: "tool_call";
  callId: string;
  name: string;
  input: JsonValue;
  inputText?: string;
}

export interface ToolResultPart extends PartBase {
  type: "tool_result";
  callId: string;
  name?: string;
  output: string | Part[];
  isError?: boolean;
}

export interface FilePart extends PartBase {
  type: "file";
  source: MediaSource;
  mediaType?: string;
  name?: string;
}

export interface ImagePart extends PartBase {
  type: "image";
  source: MediaSource;
  mediaType?: string;
}

/** A change to files, identified by the hash of the resulting state. */
export interface PatchPart extends PartBase {
  type: "patch";
  hash: string;
  files: string[];
}

export interface SubtaskPart extends PartBase {
  type: "subtask";
  prompt: string;
  description?: string;
  agent?: string;
}

export interface AgentPart extends PartBase {
  type: "agent";
  name: string;
}

export interface StepStartPart extends PartBase {
  type: "step_start";
  snapshot?: string;
}

export interface StepFinishPart extends PartBase {
  type: "step_finish";
  reason?: string;
  cost?: number;
  tokens?: JsonObject;
  snapshot?: string;
}

export interface SnapshotPart extends PartBase {
  type: "snapshot";
  snapshot: string;
}

/** A summary by a provider or host that replaces older messages. */
export interface CompactionPart extends PartBase {
  type: "compaction";
  summary?: string;
  encrypted?: string;
}

export interface RetryPart extends PartBase {
  type: "retry";
  attempt: number;
  error: JsonValue;
}

/** A block that no other part describes, stored unchanged. */
export interface OpaquePart {
  type: "opaque";
  raw: RawBlock;
}

export type Part =
  | TextPart
  | ReasoningPart
  | ToolCallPart
  | ToolResultPart
  | FilePart
  | ImagePart
  | PatchPart
  | SubtaskPart
  | AgentPart
  | StepStartPart
  | StepFinishPart
  | SnapshotPart
  | CompactionPart
  | RetryPart
  | OpaquePart;

export type PartType = Part["type"];
