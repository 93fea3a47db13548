import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import type { Message, Part, ReasoningPart, ToolCallPart, ToolResultPart } from "../message.ts";
import {
  type BlockCodec,
  checkMessageObject,
  readBlock,
  type Segment,
  splitSegments,
  writeBlock,
  writeBlocks,
} from "./blocks.ts";
import { finishMessage, writeMessage } from "./envelope.ts";
import {
  formatInput,
  getArray,
  getObject,
  getString,
  omitUndefined,
  parseInput,
  parseMediaUrl,
  toJsonObject,
  toMediaUrl,
  toPlainText,
  toRole,
} from "./fields.ts";

/** Reads a message of the Chat Completions API or a compatible server. */
export function fromOpenaiChat(wire: unknown): Message {
  const original = checkMessageObject("openai-chat", wire);
  const role = toRole(original.role);
  const draft: Message =
    role === "tool"
      ? { role, content: [readResult(original)] }
      : omitUndefined({ role, content: readParts(original), name: getString(original, "name") });
  return finishMessage("openai-chat", draft, original, rebuild);
}

/** Writes a message for Chat Completions: one `tool` message per result; reasoning only for the server it came from. */
export function toOpenaiChat(message: Message): JsonObject[] {
  return writeMessage("openai-chat", message, rebuild);
}

function readResult(original: JsonObject): ToolResultPart {
  const name = getString(original, "name");
  const callId = getString(original, "tool_call_id") ?? name ?? "";
  const output = readContent(original.content);
  return omitUndefined({ type: "tool_result", callId, name, output } as const);
}

function readContent(content: JsonValue | undefined): string | Part[] {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((block) => readBlock(chatBlocks, block)) : [];
}

function readParts(original: JsonObject): string | Part[] {
  const content = readContent(original.content);
  if (toRole(original.role) !== "assistant") return content;
  const around = [...readReasoning(original), ...readCalls(original)];
  if (around.length === 0 && typeof content === "string") return content;
  const [reasoning, calls] = [around.filter(isReasoning), around.filter((part) => !isReasoning(part))];
  if (typeof content === "string") return [...reasoning, { type: "text", text: content }, ...calls];
  // A single text is written as a string, so one that arrived as a block must record that.
  const lone = content.length === 1 ? content[0] : undefined;
  const blocks = Array.isArray(original.content) ? original.content : [];
  const exact: Part[] =
    lone?.type === "text" && lone.raw === undefined
      ? [{ ...lone, raw: { format: "openai-chat", block: blocks[0] ?? null } }]
      : content;
  return [...reasoning, ...exact, ...calls];
}

function isReasoning(part: Part): part is ReasoningPart {
  return part.type === "reasoning";
}

function readReasoning(original: JsonObject): ReasoningPart[] {
  const text = getString(original, "reasoning_content") ?? getString(original, "reasoning");
  return text === undefined ? [] : [{ type: "reasoning", text }];
}

function readCalls(original: JsonObject): ToolCallPart[] {
  const calls = (getArray(original, "tool_calls") ?? []).map((call) => readCall(call));
  const legacy = getObject(original, "function_call");
  const name = legacy === undefined ? undefined : getString(legacy, "name");
  if (legacy === undefined || name === undefined) return calls;
  const input = parseInput(getString(legacy, "arguments") ?? "");
  return [...calls, { type: "tool_call", callId: name, name, ...input }];
}

function readCall(call: JsonValue): ToolCallPart {
  const part = isJsonObject(call) ? readBlock(chatCalls, call) : undefined;
  if (part?.type === "tool_call") return part;
  return { type: "tool_call", callId: "", name: "", input: null, raw: { format: "openai-chat", block: call } };
}

function rebuild(message: Message): JsonObject[] {
  const own = message.wire?.format === "openai-chat";
  const name = message.name !== undefined && (own || /^[\w-]{1,64}$/.test(message.name)) ? message.name : undefined;
  if (typeof message.content === "string") {
    return [toJsonObject({ role: message.role === "tool" ? "user" : message.role, content: message.content, name })];
  }
  const segments = splitSegments(message);
  if (segments.length === 0 && own && message.role !== "tool") segments.push({ role: message.role, parts: [] });
  return segments.flatMap((segment) => writeSegment(segment, name, own));
}

function writeSegment(segment: Segment, name: string | undefined, own: boolean): JsonObject[] {
  if (segment.role === "tool") {
    return segment.results.map((part) => ({
      role: "tool",
      tool_call_id: part.callId,
      content: writeOutput(part, own),
    }));
  }
  const { role, parts } = segment;
  if (role !== "assistant") {
    const contentParts = parts.filter((part) => part.type !== "tool_call");
    const content = writeBlocks(chatBlocks, contentParts, own);
    return content.length === 0 && !own ? [] : [toJsonObject({ role, content, name })];
  }
  const content = parts.filter((part) => part.type !== "tool_call");
  const calls = parts
    .filter((part) => part.type === "tool_call")
    .map((part) => writeBlock(chatCalls, part, own))
    .filter((call) => call !== undefined);
  const reasoning = content.filter(isReasoning).map((part) => part.text);
  const written = writeAnswer(content, own);
  if (written === null && calls.length === 0 && !own) return [];
  return [
    toJsonObject({
      role,
      content: written,
      name,
      tool_calls: calls.length === 0 ? undefined : calls,
      reasoning_content: own && reasoning.length > 0 ? reasoning.join("\n") : undefined,
    }),
  ];
}

/** The content of an assistant message: `null` when empty, a string for a single text, otherwise blocks. */
function writeAnswer(parts: Part[], own: boolean): JsonValue {
  const shown = parts.filter((part) => part.type !== "reasoning" && writeBlock(chatBlocks, part, own) !== undefined);
  const lone = shown.length === 1 ? shown[0] : undefined;
  if (lone?.type === "text" && lone.raw?.format !== "openai-chat") return lone.text;
  const blocks = writeBlocks(chatBlocks, shown, own);
  return blocks.length === 0 ? null : blocks;
}

/** The API accepts only text from tools, so images from other providers' tools are replaced by their description. */
function writeOutput(part: ToolResultPart, own: boolean): JsonValue {
  if (typeof part.output === "string") return part.output;
  return own || part.output.every((item) => item.type === "text" || item.raw?.format === "openai-chat")
    ? writeBlocks(chatBlocks, part.output, own)
    : toPlainText(part.output);
}

/** The blocks of a message's content. */
const chatBlocks: BlockCodec = { format: "openai-chat", read: readContentBlock, write: writeContentBlock };

/** The elements of `tool_calls`. */
const chatCalls: BlockCodec = { format: "openai-chat", read: readCallBlock, write: writeCallBlock };

function readContentBlock(block: JsonObject): Part | undefined {
  switch (block.type) {
    case "text": {
      const text = getString(block, "text");
      return text === undefined ? undefined : { type: "text", text };
    }
    case "refusal": {
      const text = getString(block, "refusal");
      return text === undefined ? undefined : { type: "text", text };
    }
    case "image_url": {
      const url = getString(getObject(block, "image_url") ?? {}, "url");
      return url === undefined ? undefined : { type: "image", ...parseMediaUrl(url) };
    }
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
    case "file":
      return readFile(getObject(block, "file") ?? {});
    default:
      return undefined;
  }
}

function readFile(file: JsonObject): Part | undefined {
  const name = getString(file, "filename");
  const fileId = getString(file, "file_id");
  if (fileId !== undefined) return omitUndefined({ type: "file", source: { kind: "file_id", fileId }, name } as const);
  const data = getString(file, "file_data");
  return data === undefined ? undefined : omitUndefined({ type: "file", ...parseMediaUrl(data), name } as const);
}

function writeContentBlock(part: Part): JsonValue | undefined {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "image": {
      const url = toMediaUrl(part.source, part.mediaType);
      return url === undefined ? undefined : { type: "image_url", image_url: { url } };
    }
    case "file":
      if (part.source.kind === "text") return { type: "text", text: part.source.text };
      if (part.source.kind === "file_id") {
        return { type: "file", file: toJsonObject({ file_id: part.source.fileId, filename: part.name }) };
      }
      if (part.mediaType?.startsWith("audio/") && part.source.kind === "base64") {
        return { type: "input_audio", input_audio: { data: part.source.data, format: part.mediaType.slice(6) } };
      }
      return {
        type: "file",
        file: toJsonObject({ file_data: toMediaUrl(part.source, part.mediaType), filename: part.name }),
      };
    case "compaction":
      return part.summary === undefined ? undefined : { type: "text", text: part.summary };
    default:
      return undefined;
  }
}

/** An invalid element becomes a call without a name, so that it is not mistaken for a content block. */
function readCallBlock(call: JsonObject): ToolCallPart {
  const callId = getString(call, "id") ?? "";
  const custom = getObject(call, "custom");
  if (custom !== undefined) {
    const input = getString(custom, "input") ?? "";
    return { type: "tool_call", callId, name: getString(custom, "name") ?? "", input, inputText: input };
  }
  const called = getObject(call, "function") ?? {};
  const text = getString(called, "arguments");
  const input = text === undefined ? { input: called.arguments ?? null } : parseInput(text);
  return { type: "tool_call", callId, name: getString(called, "name") ?? "", ...input };
}

function writeCallBlock(part: Part): JsonValue | undefined {
  if (part.type !== "tool_call") return undefined;
  return { id: part.callId, type: "function", function: { name: part.name, arguments: formatInput(part) } };
}
