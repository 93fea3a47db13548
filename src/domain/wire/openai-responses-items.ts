import type { JsonObject, JsonValue } from "../json.ts";
import type { Message, Part, Role, ToolCallPart } from "../message.ts";
import { type BlockCodec, readBlock } from "./blocks.ts";
import {
  getArray,
  getObject,
  getString,
  omitKeys,
  omitUndefined,
  parseInput,
  parseMediaUrl,
  toJsonObject,
  toMediaUrl,
  toRole,
} from "./fields.ts";

/** Marks a message whose opaque part is a complete item of an unknown type. */
export const itemMark = "varve:item";

/** Reads an item into parts; the envelope records the remaining fields. */
export function readItem(item: JsonObject): Message {
  const type = getString(item, "type") ?? ("role" in item ? "message" : undefined);
  switch (type) {
    case "message":
      return readMessage(item);
    case "reasoning":
      return { role: "assistant", content: [readReasoning(item)] };
    case "compaction":
    case "compaction_summary":
      return {
        role: "assistant",
        content: [omitUndefined({ type: "compaction", encrypted: getString(item, "encrypted_content") } as const)],
      };
    case "image_generation_call": {
      const data = getString(item, "result");
      return data === undefined
        ? toOpaqueMessage(item)
        : { role: "assistant", content: [{ type: "image", source: { kind: "base64", data } }] };
    }
    case "function_call":
    case "custom_tool_call":
    case "local_shell_call":
    case "shell_call":
    case "apply_patch_call":
    case "computer_call":
      return { role: "assistant", content: [readCall(item, type)] };
    case "web_search_call":
    case "file_search_call":
    case "code_interpreter_call":
    case "mcp_call":
    case "tool_search_call":
      return { role: "assistant", content: [readHostedCall(item, type)] };
    default:
      return type?.endsWith("_call_output") ? readOutput(item) : toOpaqueMessage(item);
  }
}

function toOpaqueMessage(item: JsonObject): Message {
  return {
    role: "assistant",
    content: [{ type: "opaque", raw: { format: "openai-responses", block: item } }],
    wire: { format: "openai-responses", fields: { [itemMark]: true } },
  };
}

function readMessage(item: JsonObject): Message {
  const role = toRole(item.role);
  const text = getString(item, "content");
  const blocks = getArray(item, "content") ?? [];
  return { role, content: text ?? blocks.map((block) => readContentBlock(role, block)) };
}

/** An image among an assistant's blocks keeps its block, so that it is not mistaken for a generated image. */
function readContentBlock(role: Message["role"], block: JsonValue): Part {
  const part = readBlock(selectBlockCodec(role), block);
  return part.type === "image" && part.raw === undefined
    ? { ...part, raw: { format: "openai-responses", block } }
    : part;
}

function readReasoning(item: JsonObject): Part {
  const texts = [...(getArray(item, "summary") ?? []), ...(getArray(item, "content") ?? [])]
    .map((block) => readBlock(selectBlockCodec("assistant"), block))
    .map((part) => (part.type === "text" ? part.text : ""))
    .filter((text) => text !== "");
  return omitUndefined({
    type: "reasoning",
    text: texts.join("\n\n"),
    encrypted: getString(item, "encrypted_content"),
  } as const);
}

function readCall(item: JsonObject, type: string): ToolCallPart {
  const callId = getString(item, "call_id") ?? getString(item, "id") ?? "";
  const name = getString(item, "name") ?? type.replace(/_call$/, "");
  const text = getString(item, "arguments");
  if (text !== undefined) return { type: "tool_call", callId, name, ...parseInput(text) };
  const free = getString(item, "input");
  if (free !== undefined) return { type: "tool_call", callId, name, input: free, inputText: free };
  const input = item.action ?? item.operation ?? item.actions ?? null;
  return { type: "tool_call", callId, name, input };
}

/**
 * The provider ran the tool, so the item contains request and result; both become the input, where search finds them.
 */
function readHostedCall(item: JsonObject, type: string): ToolCallPart {
  return {
    type: "tool_call",
    callId: getString(item, "id") ?? "",
    name: getString(item, "name") ?? type.replace(/_call$/, ""),
    input: omitKeys(item, ["type", "id", "status"]),
    raw: { format: "openai-responses", block: item },
  };
}

function readOutput(item: JsonObject): Message {
  const callId = getString(item, "call_id") ?? "";
  const name = getString(item, "name");
  return {
    role: "tool",
    content: [omitUndefined({ type: "tool_result", callId, name, ...readResult(item.output) } as const)],
  };
}

function readResult(output: JsonValue | undefined): { output: string | Part[]; isError?: boolean } {
  if (typeof output === "string") return { output };
  if (Array.isArray(output)) return { output: output.map((block) => readBlock(selectBlockCodec("tool"), block)) };
  const wrapped = getObject({ output: output ?? null }, "output");
  if (wrapped === undefined) return { output: "" };
  if (wrapped.type !== undefined) return { output: [readBlock(selectBlockCodec("tool"), wrapped)] };
  const text = getString(wrapped, "content") ?? JSON.stringify(wrapped);
  return wrapped.success === false ? { output: text, isError: true } : { output: text };
}

const outputBlocks: BlockCodec = {
  format: "openai-responses",
  read: readTextBlock,
  write: (part) => writeTextBlock(part, "output_text"),
};
const inputBlocks: BlockCodec = {
  format: "openai-responses",
  read: readTextBlock,
  write: (part) => writeTextBlock(part, "input_text"),
};

/** The blocks of a message item; text of the model and text for the model have different type names. */
export function selectBlockCodec(role: Role): BlockCodec {
  return role === "assistant" ? outputBlocks : inputBlocks;
}

function readTextBlock(block: JsonObject): Part | undefined {
  switch (block.type) {
    case "input_text":
    case "output_text":
    case "text":
    case "summary_text":
    case "reasoning_text":
      return readText(getString(block, "text"));
    case "refusal":
      return readText(getString(block, "refusal"));
    case "input_image":
    case "computer_screenshot":
      return readImage(block);
    case "input_file":
      return readFile(block);
    case "input_audio": {
      const audio = getObject(block, "input_audio") ?? {};
      const data = getString(audio, "data");
      if (data === undefined) return undefined;
      return {
        type: "file",
        source: { kind: "base64", data },
        mediaType: `audio/${getString(audio, "format") ?? "wav"}`,
      };
    }
    default:
      return undefined;
  }
}

function readText(text: string | undefined): Part | undefined {
  return text === undefined ? undefined : { type: "text", text };
}

function readImage(block: JsonObject): Part | undefined {
  const url = getString(block, "image_url");
  if (url !== undefined) return { type: "image", ...parseMediaUrl(url) };
  const fileId = getString(block, "file_id");
  return fileId === undefined ? undefined : { type: "image", source: { kind: "file_id", fileId } };
}

function readFile(block: JsonObject): Part | undefined {
  const name = getString(block, "filename");
  const fileId = getString(block, "file_id");
  if (fileId !== undefined) return omitUndefined({ type: "file", source: { kind: "file_id", fileId }, name } as const);
  const url = getString(block, "file_data") ?? getString(block, "file_url");
  return url === undefined ? undefined : omitUndefined({ type: "file", ...parseMediaUrl(url), name } as const);
}

function writeTextBlock(part: Part, textType: "input_text" | "output_text"): JsonValue | undefined {
  switch (part.type) {
    case "text":
      return { type: textType, text: part.text };
    case "image":
      if (part.source.kind === "file_id") return { type: "input_image", file_id: part.source.fileId };
      return addUrl({ type: "input_image" }, "image_url", toMediaUrl(part.source, part.mediaType));
    case "file":
      if (part.source.kind === "text") return { type: textType, text: part.source.text };
      if (part.source.kind === "file_id") {
        return toJsonObject({ type: "input_file", file_id: part.source.fileId, filename: part.name });
      }
      return addUrl(
        toJsonObject({ type: "input_file", filename: part.name }),
        part.source.kind === "url" ? "file_url" : "file_data",
        toMediaUrl(part.source, part.mediaType),
      );
    case "compaction":
      return part.summary === undefined ? undefined : { type: textType, text: part.summary };
    default:
      return undefined;
  }
}

function addUrl(block: JsonObject, key: string, url: string | undefined): JsonObject | undefined {
  return url === undefined ? undefined : { ...block, [key]: url };
}
