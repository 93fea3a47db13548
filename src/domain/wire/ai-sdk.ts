import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import type { MediaSource, Message, Part, ToolResultPart } from "../message.ts";
import { type BlockCodec, checkMessageObject, readBlock, type Segment, splitSegments, writeBlocks } from "./blocks.ts";
import { canVerifySignatures, finishMessage, writeMessage } from "./envelope.ts";
import { getArray, getObject, getString, omitUndefined, toJsonObject, toPlainText, toRole } from "./fields.ts";

/**
 * Reads a message of the AI SDK: a model message of versions 6 and 7, or one of a language model's prompt. Bytes must be
 * base64 texts, and URLs texts.
 */
export function fromAiSdk(wire: unknown): Message {
  const original = checkMessageObject("ai-sdk", wire);
  const draft: Message = { role: toRole(original.role), content: readContent(original) };
  return finishMessage("ai-sdk", draft, original, rebuild);
}

/** Writes a message for the AI SDK: one per run of tool results and of other parts. */
export function toAiSdk(message: Message): JsonObject[] {
  return writeMessage("ai-sdk", message, rebuild);
}

function readContent(original: JsonObject): string | Part[] {
  const text = getString(original, "content");
  return text ?? (getArray(original, "content") ?? []).map((block) => readBlock(aiSdkBlocks, block));
}

function rebuild(message: Message): JsonObject[] {
  const own = message.wire?.format === "ai-sdk";
  const trusted = canVerifySignatures("ai-sdk", message);
  if (typeof message.content === "string") return [{ role: message.role, content: message.content }];
  // Results of tools that the provider ran itself are in the assistant's own message.
  if (own) return [{ role: message.role, content: writeBlocks(aiSdkBlocks, message.content, trusted) }];
  if (message.role === "system") return [{ role: "system", content: toPlainText(message.content) }];
  return splitSegments(message).flatMap((segment) => writeSegment(segment, trusted));
}

function writeSegment(segment: Segment, trusted: boolean): JsonObject[] {
  const parts = segment.role === "tool" ? segment.results : segment.parts;
  const content = writeBlocks(aiSdkBlocks, parts, trusted);
  return content.length === 0 ? [] : [{ role: segment.role, content }];
}

const aiSdkBlocks: BlockCodec = { format: "ai-sdk", read: readAiSdkBlock, write: writeAiSdkBlock };

function readAiSdkBlock(block: JsonObject): Part | undefined {
  switch (block.type) {
    case "text": {
      const text = getString(block, "text");
      return text === undefined ? undefined : { type: "text", text };
    }
    case "reasoning": {
      const text = getString(block, "text");
      return text === undefined ? undefined : { type: "reasoning", text };
    }
    case "tool-call": {
      const callId = getString(block, "toolCallId");
      const name = getString(block, "toolName");
      if (callId === undefined || name === undefined) return undefined;
      return { type: "tool_call", callId, name, input: block.input ?? null };
    }
    case "tool-result":
      return readResult(block);
    case "image":
    case "file":
      return readFile(block);
    default:
      return undefined;
  }
}

function readResult(block: JsonObject): ToolResultPart | undefined {
  const callId = getString(block, "toolCallId");
  const result = getObject(block, "output");
  if (callId === undefined || result === undefined) return undefined;
  const kind = getString(result, "type") ?? "";
  return omitUndefined({
    type: "tool_result",
    callId,
    name: getString(block, "toolName"),
    output: readOutput(result),
    isError: kind.startsWith("error") || kind === "execution-denied" ? true : undefined,
  } as const);
}

function readOutput(result: JsonObject): string | Part[] {
  const { value } = result;
  if (typeof value === "string") return value;
  if (result.type === "content" && Array.isArray(value)) return value.map((block) => readBlock(aiSdkBlocks, block));
  if (value === undefined) return getString(result, "reason") ?? "";
  return JSON.stringify(value);
}

function readFile(block: JsonObject): Part | undefined {
  const mediaType = getString(block, "mediaType");
  const source = readSource(block.data ?? block.image);
  if (source === undefined) return undefined;
  if (block.type === "image" || mediaType?.startsWith("image/"))
    return omitUndefined({ type: "image", source, mediaType } as const);
  return omitUndefined({ type: "file", source, mediaType, name: getString(block, "filename") } as const);
}

/** Data is a text (base64 or a URL), or an object that says which. */
function readSource(data: JsonValue | undefined): MediaSource | undefined {
  if (typeof data === "string") {
    return /^(?:https?|data):/.test(data) ? { kind: "url", url: data } : { kind: "base64", data };
  }
  if (!isJsonObject(data)) return undefined;
  const [url, bytes, text] = [getString(data, "url"), getString(data, "data"), getString(data, "text")];
  if (url !== undefined) return { kind: "url", url };
  if (bytes !== undefined) return { kind: "base64", data: bytes };
  return text === undefined ? undefined : { kind: "text", text };
}

function writeAiSdkBlock(part: Part): JsonValue | undefined {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "reasoning":
      return part.text === "" ? undefined : { type: "reasoning", text: part.text };
    case "tool_call":
      return { type: "tool-call", toolCallId: part.callId, toolName: part.name, input: part.input };
    case "tool_result": {
      const value = toPlainText(part.output);
      const output = { type: part.isError ? "error-text" : "text", value };
      return toJsonObject({ type: "tool-result", toolCallId: part.callId, toolName: part.name ?? "unknown", output });
    }
    case "image":
    case "file":
      return writeFile(part);
    case "compaction":
      return part.summary === undefined ? undefined : { type: "text", text: part.summary };
    default:
      return undefined;
  }
}

function writeFile(part: Extract<Part, { type: "image" | "file" }>): JsonValue | undefined {
  const { source } = part;
  if (source.kind === "file_id") return undefined;
  if (source.kind === "text") return { type: "text", text: source.text };
  const mediaType = part.mediaType ?? (part.type === "image" ? "image/png" : "application/octet-stream");
  const data = source.kind === "url" ? source.url : source.data;
  return toJsonObject({
    type: "file",
    data,
    mediaType,
    filename: part.type === "file" ? part.name : undefined,
  });
}
