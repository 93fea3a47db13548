import type { JsonObject, JsonValue } from "../json.ts";
import { getParts, type MediaSource, type Message, type Part, type ToolResultPart } from "../message.ts";
import { type BlockCodec, checkMessageObject, isHosted, readBlock, splitSegments, writeBlocks } from "./blocks.ts";
import { canVerifySignatures, finishMessage, writeMessage } from "./envelope.ts";
import {
  getArray,
  getObject,
  getString,
  omitUndefined,
  toInputObject,
  toJsonObject,
  toPlainText,
  toRole,
} from "./fields.ts";

/**
 * Reads a message of the Messages API, sent or received. A user message that contains only tool results gets the role
 * `tool`. The wire `id` identifies the response, which several stored messages may share, so it does not become
 * `Message.id`.
 */
export function fromAnthropic(wire: unknown): Message {
  const original = checkMessageObject("anthropic", wire);
  const text = getString(original, "content");
  const content = text ?? (getArray(original, "content") ?? []).map((block) => readBlock(anthropicBlocks, block));
  const role = toRole(original.role);
  const draft: Message = omitUndefined({
    role: role === "user" && hasOnlyResults(content) ? "tool" : role,
    content,
    model: getString(original, "model"),
    usage: getObject(original, "usage"),
    stopReason: getString(original, "stop_reason"),
  });
  return finishMessage("anthropic", draft, original, rebuild);
}

/** Writes a message for the Messages API. A `system` message belongs in the request's `system` field. */
export function toAnthropic(message: Message): JsonObject[] {
  return writeMessage("anthropic", message, rebuild);
}

function hasOnlyResults(content: string | Part[]): boolean {
  return typeof content !== "string" && content.length > 0 && content.every((part) => part.type === "tool_result");
}

function rebuild(message: Message): JsonObject[] {
  const role = message.role === "tool" ? "user" : message.role;
  if (message.wire?.format === "anthropic") return [writeOwn(message, role)];
  if (typeof message.content === "string") return [{ role, content: message.content }];
  const trusted = canVerifySignatures("anthropic", message);
  const answered = message.content.some((part) => part.type === "tool_result" && !isHosted(part));
  const runs =
    role === "assistant" && answered
      ? splitSegments(message).map((run) =>
          run.role === "tool" ? { role: "user", parts: run.results } : { role: run.role, parts: run.parts },
        )
      : [{ role, parts: message.content }];
  return runs
    .map((run): JsonObject => ({ role: run.role, content: writeBlocks(anthropicBlocks, run.parts, trusted) }))
    .filter((run) => Array.isArray(run.content) && run.content.length > 0);
}

function writeOwn(message: Message, role: string): JsonObject {
  const content = typeof message.content === "string" ? message.content : undefined;
  return toJsonObject({
    role,
    content: content ?? writeBlocks(anthropicBlocks, getParts(message), true),
    model: message.model,
    usage: message.usage,
    stop_reason: message.stopReason,
  });
}

const anthropicBlocks: BlockCodec = { format: "anthropic", read: readAnthropicBlock, write: writeAnthropicBlock };

function readAnthropicBlock(block: JsonObject): Part | undefined {
  const type = getString(block, "type");
  switch (type) {
    case "text":
      return readText(getString(block, "text"));
    case "search_result":
      return readText(toPlainText((getArray(block, "content") ?? []).map((item) => readBlock(anthropicBlocks, item))));
    case "thinking":
      return readThinking(block);
    case "redacted_thinking": {
      const data = getString(block, "data");
      return data === undefined ? undefined : { type: "reasoning", text: "", encrypted: data };
    }
    case "tool_use":
    case "server_tool_use":
    case "mcp_tool_use":
      return readToolUse(block);
    case "image":
      return readMedia("image", block);
    case "document":
      return readMedia("file", block);
    case "container_upload": {
      const fileId = getString(block, "file_id");
      return fileId === undefined ? undefined : { type: "file", source: { kind: "file_id", fileId } };
    }
    case "compaction":
      return omitUndefined({
        type: "compaction",
        summary: getString(block, "content"),
        encrypted: getString(block, "encrypted_content"),
      } as const);
    default:
      return type?.endsWith("tool_result") ? readToolResult(block) : undefined;
  }
}

function readText(text: string | undefined): Part | undefined {
  return text === undefined ? undefined : { type: "text", text };
}

function readThinking(block: JsonObject): Part | undefined {
  const text = getString(block, "thinking");
  if (text === undefined) return undefined;
  return omitUndefined({ type: "reasoning", text, signature: getString(block, "signature") } as const);
}

/** Exports of claude.ai have no call ids; calls and results are then matched by name and order. */
function readToolUse(block: JsonObject): Part | undefined {
  const name = getString(block, "name");
  if (name === undefined) return undefined;
  return { type: "tool_call", callId: getString(block, "id") ?? name, name, input: block.input ?? null };
}

function readToolResult(block: JsonObject): ToolResultPart | undefined {
  const name = getString(block, "name");
  const callId = getString(block, "tool_use_id") ?? name;
  if (callId === undefined) return undefined;
  const isError = typeof block.is_error === "boolean" ? block.is_error : undefined;
  return omitUndefined({ type: "tool_result", callId, name, output: readOutput(block.content), isError } as const);
}

function readOutput(content: JsonValue | undefined): string | Part[] {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return content.map((item) => readBlock(anthropicBlocks, item));
  return content === undefined || content === null ? "" : JSON.stringify(content);
}

function readMedia(type: "image" | "file", block: JsonObject): Part | undefined {
  const source = getObject(block, "source");
  const where = source === undefined ? undefined : readSource(source);
  if (source === undefined || where === undefined) return undefined;
  const mediaType = getString(source, "media_type");
  if (type === "image") return omitUndefined({ type, source: where, mediaType } as const);
  return omitUndefined({ type, source: where, mediaType, name: getString(block, "title") } as const);
}

function readSource(source: JsonObject): MediaSource | undefined {
  const data = getString(source, "data");
  const url = getString(source, "url");
  const fileId = getString(source, "file_id");
  if (source.type === "base64" && data !== undefined) return { kind: "base64", data };
  if (source.type === "text" && data !== undefined) return { kind: "text", text: data };
  if (source.type === "url" && url !== undefined) return { kind: "url", url };
  if (source.type === "file" && fileId !== undefined) return { kind: "file_id", fileId };
  return undefined;
}

function writeAnthropicBlock(part: Part, trusted: boolean): JsonValue | undefined {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "reasoning":
      if (!trusted) return undefined;
      if (part.encrypted !== undefined && part.text === "") return { type: "redacted_thinking", data: part.encrypted };
      return toJsonObject({ type: "thinking", thinking: part.text, signature: part.signature });
    case "tool_call":
      return { type: "tool_use", id: part.callId, name: part.name, input: toInputObject(part.input) };
    case "tool_result":
      return toJsonObject({
        type: "tool_result",
        tool_use_id: part.callId,
        content: typeof part.output === "string" ? part.output : writeBlocks(anthropicBlocks, part.output, trusted),
        is_error: part.isError,
      });
    case "image": {
      const source = writeSource(part.source, part.mediaType, "image/png");
      return source === undefined ? undefined : { type: "image", source };
    }
    case "file": {
      const source = writeSource(part.source, part.mediaType, "application/pdf");
      return source === undefined ? undefined : toJsonObject({ type: "document", source, title: part.name });
    }
    case "compaction":
      if (part.encrypted !== undefined && trusted) {
        return { type: "compaction", content: part.summary ?? null, encrypted_content: part.encrypted };
      }
      return part.summary === undefined ? undefined : { type: "text", text: part.summary };
    default:
      return undefined;
  }
}

function writeSource(source: MediaSource, mediaType: string | undefined, fallback: string): JsonObject | undefined {
  switch (source.kind) {
    case "base64":
      return { type: "base64", media_type: mediaType ?? fallback, data: source.data };
    case "url":
      return { type: "url", url: source.url };
    case "file_id":
      return { type: "file", file_id: source.fileId };
    case "text":
      return fallback.startsWith("image") ? undefined : { type: "text", media_type: "text/plain", data: source.text };
  }
}
