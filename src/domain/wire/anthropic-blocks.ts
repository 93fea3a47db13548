import type { JsonObject, JsonValue } from "../json.ts";
import type { MediaSource, Part, ToolResultPart } from "../part.ts";
import { type BlockCodec, readBlock, writeBlocks } from "./exact.ts";
import { arrayField, defined, inputAsObject, json, objectField, plainText, stringField } from "./shared.ts";

export const anthropicBlocks: BlockCodec = { format: "anthropic", read, write };

function read(block: JsonObject): Part | undefined {
  const type = stringField(block, "type");
  switch (type) {
    case "text":
      return readText(stringField(block, "text"));
    case "search_result":
      return readText(plainText((arrayField(block, "content") ?? []).map((item) => readBlock(anthropicBlocks, item))));
    case "thinking":
      return readThinking(block);
    case "redacted_thinking": {
      const data = stringField(block, "data");
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
      const fileId = stringField(block, "file_id");
      return fileId === undefined ? undefined : { type: "file", source: { kind: "file_id", fileId } };
    }
    case "compaction":
      return defined({
        type: "compaction",
        summary: stringField(block, "content"),
        encrypted: stringField(block, "encrypted_content"),
      } as const);
    default:
      return type?.endsWith("tool_result") ? readToolResult(block) : undefined;
  }
}

function readText(text: string | undefined): Part | undefined {
  return text === undefined ? undefined : { type: "text", text };
}

function readThinking(block: JsonObject): Part | undefined {
  const text = stringField(block, "thinking");
  if (text === undefined) return undefined;
  return defined({ type: "reasoning", text, signature: stringField(block, "signature") } as const);
}

/** Exports of claude.ai leave the ids out; calls and results then meet by name and order. */
function readToolUse(block: JsonObject): Part | undefined {
  const name = stringField(block, "name");
  if (name === undefined) return undefined;
  return { type: "tool_call", callId: stringField(block, "id") ?? name, name, input: block.input ?? null };
}

function readToolResult(block: JsonObject): ToolResultPart | undefined {
  const name = stringField(block, "name");
  const callId = stringField(block, "tool_use_id") ?? name;
  if (callId === undefined) return undefined;
  const isError = typeof block.is_error === "boolean" ? block.is_error : undefined;
  return defined({ type: "tool_result", callId, name, output: readOutput(block.content), isError } as const);
}

function readOutput(content: JsonValue | undefined): string | Part[] {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return content.map((item) => readBlock(anthropicBlocks, item));
  return content === undefined || content === null ? "" : JSON.stringify(content);
}

function readMedia(type: "image" | "file", block: JsonObject): Part | undefined {
  const source = objectField(block, "source");
  const where = source === undefined ? undefined : readSource(source);
  if (source === undefined || where === undefined) return undefined;
  const mediaType = stringField(source, "media_type");
  if (type === "image") return defined({ type, source: where, mediaType } as const);
  return defined({ type, source: where, mediaType, name: stringField(block, "title") } as const);
}

function readSource(source: JsonObject): MediaSource | undefined {
  const data = stringField(source, "data");
  const url = stringField(source, "url");
  const fileId = stringField(source, "file_id");
  if (source.type === "base64" && data !== undefined) return { kind: "base64", data };
  if (source.type === "text" && data !== undefined) return { kind: "text", text: data };
  if (source.type === "url" && url !== undefined) return { kind: "url", url };
  if (source.type === "file" && fileId !== undefined) return { kind: "file_id", fileId };
  return undefined;
}

function write(part: Part, trusted: boolean): JsonValue | undefined {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "reasoning":
      if (!trusted) return undefined;
      if (part.encrypted !== undefined && part.text === "") return { type: "redacted_thinking", data: part.encrypted };
      return json({ type: "thinking", thinking: part.text, signature: part.signature });
    case "tool_call":
      return { type: "tool_use", id: part.callId, name: part.name, input: inputAsObject(part.input) };
    case "tool_result":
      return json({
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
      return source === undefined ? undefined : json({ type: "document", source, title: part.name });
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
