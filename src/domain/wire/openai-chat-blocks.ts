import type { JsonObject, JsonValue } from "../json.ts";
import type { Part, ToolCallPart } from "../part.ts";
import type { BlockCodec } from "./exact.ts";
import {
  defined,
  inputAsText,
  inputFromText,
  json,
  objectField,
  sourceFromUrl,
  stringField,
  urlFromSource,
} from "./shared.ts";

/** The blocks of a message's content. */
export const chatBlocks: BlockCodec = { format: "openai-chat", read: readContent, write: writeContent };

/** The elements of `tool_calls`. */
export const chatCalls: BlockCodec = { format: "openai-chat", read: readCall, write: writeCall };

function readContent(block: JsonObject): Part | undefined {
  switch (block.type) {
    case "text": {
      const text = stringField(block, "text");
      return text === undefined ? undefined : { type: "text", text };
    }
    case "refusal": {
      const text = stringField(block, "refusal");
      return text === undefined ? undefined : { type: "text", text };
    }
    case "image_url": {
      const url = stringField(objectField(block, "image_url") ?? {}, "url");
      return url === undefined ? undefined : { type: "image", ...sourceFromUrl(url) };
    }
    case "input_audio": {
      const audio = objectField(block, "input_audio") ?? {};
      const data = stringField(audio, "data");
      if (data === undefined) return undefined;
      return {
        type: "file",
        source: { kind: "base64", data },
        mediaType: `audio/${stringField(audio, "format") ?? "wav"}`,
      };
    }
    case "file":
      return readFile(objectField(block, "file") ?? {});
    default:
      return undefined;
  }
}

function readFile(file: JsonObject): Part | undefined {
  const name = stringField(file, "filename");
  const fileId = stringField(file, "file_id");
  if (fileId !== undefined) return defined({ type: "file", source: { kind: "file_id", fileId }, name } as const);
  const data = stringField(file, "file_data");
  return data === undefined ? undefined : defined({ type: "file", ...sourceFromUrl(data), name } as const);
}

function writeContent(part: Part): JsonValue | undefined {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "image": {
      const url = urlFromSource(part.source, part.mediaType);
      return url === undefined ? undefined : { type: "image_url", image_url: { url } };
    }
    case "file":
      if (part.source.kind === "text") return { type: "text", text: part.source.text };
      if (part.source.kind === "file_id") {
        return { type: "file", file: json({ file_id: part.source.fileId, filename: part.name }) };
      }
      if (part.mediaType?.startsWith("audio/") && part.source.kind === "base64") {
        return { type: "input_audio", input_audio: { data: part.source.data, format: part.mediaType.slice(6) } };
      }
      return {
        type: "file",
        file: json({ file_data: urlFromSource(part.source, part.mediaType), filename: part.name }),
      };
    case "compaction":
      return part.summary === undefined ? undefined : { type: "text", text: part.summary };
    default:
      return undefined;
  }
}

/** An element that is no call at all becomes one without a name: it must not be taken for a block of the content. */
function readCall(call: JsonObject): ToolCallPart {
  const callId = stringField(call, "id") ?? "";
  const custom = objectField(call, "custom");
  if (custom !== undefined) {
    const input = stringField(custom, "input") ?? "";
    return { type: "tool_call", callId, name: stringField(custom, "name") ?? "", input, inputText: input };
  }
  const called = objectField(call, "function") ?? {};
  const text = stringField(called, "arguments");
  const input = text === undefined ? { input: called.arguments ?? null } : inputFromText(text);
  return { type: "tool_call", callId, name: stringField(called, "name") ?? "", ...input };
}

function writeCall(part: Part): JsonValue | undefined {
  if (part.type !== "tool_call") return undefined;
  return { id: part.callId, type: "function", function: { name: part.name, arguments: inputAsText(part) } };
}
