import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import type { Message } from "../message.ts";
import type { Part, ReasoningPart, ToolCallPart, ToolResultPart } from "../part.ts";
import { finishMessage, writeMessage } from "./envelope.ts";
import { expectObject, readBlock, writeBlock, writeBlocks } from "./exact.ts";
import { chatBlocks, chatCalls } from "./openai-chat-blocks.ts";
import { type Segment, splitSegments } from "./segments.ts";
import { arrayField, defined, inputFromText, json, objectField, plainText, roleNamed, stringField } from "./shared.ts";

/** Reads a message of the Chat Completions API and of the many servers that speak it. */
export function fromOpenaiChat(wire: unknown): Message {
  const original = expectObject("openai-chat", wire);
  const role = roleNamed(original.role);
  const draft: Message =
    role === "tool"
      ? { role, content: [readResult(original)] }
      : defined({ role, content: readParts(original), name: stringField(original, "name") });
  return finishMessage("openai-chat", draft, original, rebuild);
}

/** Writes a message for Chat Completions: one `tool` message for every result, reasoning only back to its own server. */
export function toOpenaiChat(message: Message): JsonObject[] {
  return writeMessage("openai-chat", message, rebuild);
}

function readResult(original: JsonObject): ToolResultPart {
  const name = stringField(original, "name");
  const callId = stringField(original, "tool_call_id") ?? name ?? "";
  const output = readContent(original.content);
  return defined({ type: "tool_result", callId, name, output } as const);
}

function readContent(content: JsonValue | undefined): string | Part[] {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((block) => readBlock(chatBlocks, block)) : [];
}

function readParts(original: JsonObject): string | Part[] {
  const content = readContent(original.content);
  if (roleNamed(original.role) !== "assistant") return content;
  const around = [...readReasoning(original), ...readCalls(original)];
  if (around.length === 0 && typeof content === "string") return content;
  const [reasoning, calls] = [around.filter(isReasoning), around.filter((part) => !isReasoning(part))];
  if (typeof content === "string") return [...reasoning, { type: "text", text: content }, ...calls];
  // A lone text is written as a string, so one that came as a block has to say that it did.
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
  const text = stringField(original, "reasoning_content") ?? stringField(original, "reasoning");
  return text === undefined ? [] : [{ type: "reasoning", text }];
}

function readCalls(original: JsonObject): ToolCallPart[] {
  const calls = (arrayField(original, "tool_calls") ?? []).map((call) => readCall(call));
  const legacy = objectField(original, "function_call");
  const name = legacy === undefined ? undefined : stringField(legacy, "name");
  if (legacy === undefined || name === undefined) return calls;
  const input = inputFromText(stringField(legacy, "arguments") ?? "");
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
    return [json({ role: message.role === "tool" ? "user" : message.role, content: message.content, name })];
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
    const spoken = parts.filter((part) => part.type !== "tool_call");
    const content = writeBlocks(chatBlocks, spoken, own);
    return content.length === 0 && !own ? [] : [json({ role, content, name })];
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
    json({
      role,
      content: written,
      name,
      tool_calls: calls.length === 0 ? undefined : calls,
      reasoning_content: own && reasoning.length > 0 ? reasoning.join("\n") : undefined,
    }),
  ];
}

/** An assistant's content: nothing is `null`, a lone text a string, anything else blocks. */
function writeAnswer(parts: Part[], own: boolean): JsonValue {
  const shown = parts.filter((part) => part.type !== "reasoning" && writeBlock(chatBlocks, part, own) !== undefined);
  const lone = shown.length === 1 ? shown[0] : undefined;
  if (lone?.type === "text" && lone.raw?.format !== "openai-chat") return lone.text;
  const blocks = writeBlocks(chatBlocks, shown, own);
  return blocks.length === 0 ? null : blocks;
}

/** The API takes nothing but text from a tool, so pictures of another provider's tools are named instead. */
function writeOutput(part: ToolResultPart, own: boolean): JsonValue {
  if (typeof part.output === "string") return part.output;
  return own || part.output.every((item) => item.type === "text" || item.raw?.format === "openai-chat")
    ? writeBlocks(chatBlocks, part.output, own)
    : plainText(part.output);
}
