import type { JsonObject, JsonValue } from "./json.ts";

/** The wire formats whose messages are kept exactly. */
export type WireFormat = "anthropic" | "openai-chat" | "openai-responses" | "google" | "pi";

/**
 * The provider's own block, kept when the typed fields beside it cannot rebuild it to the last field.
 * A writer for the same format returns `block` untouched; every other reader uses the typed fields.
 */
export interface RawBlock {
  format: WireFormat;
  block: JsonValue;
}

interface PartBase {
  raw?: RawBlock;
}

/** Where the bytes of a file or an image are: inside, at an address, or at a provider under an id. */
export type MediaSource =
  | { kind: "base64"; data: string }
  | { kind: "url"; url: string }
  | { kind: "text"; text: string }
  | { kind: "file_id"; fileId: string };

export interface TextPart extends PartBase {
  type: "text";
  text: string;
}

/** What a model thought. `signature` and `encrypted` are opaque and must go back unchanged. */
export interface ReasoningPart extends PartBase {
  type: "reasoning";
  text: string;
  signature?: string;
  encrypted?: string;
}

/** `inputText` is the exact text of the arguments where the provider sends text; it may not be valid JSON. */
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

/** A change to files, named by the hash of the state it leads to. */
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

/** A summary that a provider or a host put in place of older messages. */
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

/** A block no part above describes, kept as it came. */
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
