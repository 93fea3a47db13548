import type { JsonObject, JsonValue } from "../json.ts";
import type { Message } from "../message.ts";
import type { Part, ToolResultPart } from "../part.ts";
import { finishMessage, trustsSignatures, writeMessage } from "./envelope.ts";
import { expectObject, readBlock, writeBlocks } from "./exact.ts";
import { piBlocks } from "./pi-blocks.ts";
import { type Segment, splitSegments } from "./segments.ts";
import { arrayField, defined, json, objectField, stringField } from "./shared.ts";

/**
 * Reads a message of pi's agent, which OpenClaw shares. Its own kinds beside the three of every provider (shell
 * commands of the user, messages of extensions, summaries) become what pi makes of them for a model: a user's message.
 */
export function fromPi(wire: unknown): Message {
  const original = expectObject("pi", wire);
  const time = typeof original.timestamp === "number" ? original.timestamp : undefined;
  const draft = defined({ ...readByRole(original), time });
  const settled: Message = draft.role === "assistant" ? { ...draft, wire: { format: "pi", fields: {} } } : draft;
  return finishMessage("pi", settled, original, rebuild);
}

/** Writes a message for pi: an assistant's, a result each, a user's. What pi must have and nobody knows is filled in. */
export function toPi(message: Message): JsonObject[] {
  return writeMessage("pi", message, rebuild);
}

function readByRole(original: JsonObject): Message {
  switch (original.role) {
    case "assistant":
      return {
        role: "assistant",
        content: readContent(original),
        provider: stringField(original, "provider"),
        model: stringField(original, "model"),
        usage: objectField(original, "usage"),
        stopReason: stringField(original, "stopReason"),
      };
    case "toolResult":
      return { role: "tool", content: [readResult(original)] };
    case "bashExecution": {
      const command = stringField(original, "command") ?? "";
      const output = stringField(original, "output") ?? "";
      return { role: "user", content: `$ ${command}\n${output}` };
    }
    case "branchSummary":
    case "compactionSummary":
      return {
        role: "user",
        content: [defined({ type: "compaction", summary: stringField(original, "summary") } as const)],
      };
    case "system":
      return { role: "system", content: readContent(original) };
    default:
      return { role: "user", content: readContent(original) };
  }
}

function readContent(original: JsonObject): string | Part[] {
  const text = stringField(original, "content");
  return text ?? (arrayField(original, "content") ?? []).map((block) => readBlock(piBlocks, block));
}

function readResult(original: JsonObject): ToolResultPart {
  return defined({
    type: "tool_result",
    callId: stringField(original, "toolCallId") ?? "",
    name: stringField(original, "toolName"),
    output: readContent(original),
    isError: typeof original.isError === "boolean" ? original.isError : undefined,
  } as const);
}

function rebuild(message: Message): JsonObject[] {
  const own = message.wire?.format === "pi";
  const trusted = trustsSignatures("pi", message);
  if (typeof message.content === "string") return [writeSpoken(message, message.content, own)];
  const segments = splitSegments(message);
  if (segments.length === 0 && own && message.role !== "tool") segments.push({ role: message.role, parts: [] });
  return segments.flatMap((segment) => writeSegment(segment, message, own, trusted));
}

function writeSegment(segment: Segment, message: Message, own: boolean, trusted: boolean): JsonObject[] {
  if (segment.role === "tool") {
    return segment.results.map((part) =>
      json({
        role: "toolResult",
        toolCallId: part.callId,
        toolName: part.name ?? (own ? undefined : ""),
        content: writeOutput(part, own, trusted),
        isError: part.isError ?? (own ? undefined : false),
        timestamp: message.time,
      }),
    );
  }
  const blocks = writeBlocks(piBlocks, segment.parts, trusted);
  return blocks.length === 0 && !own ? [] : [writeSpoken({ ...message, role: segment.role }, blocks, own)];
}

function writeOutput(part: ToolResultPart, own: boolean, trusted: boolean): JsonValue {
  if (typeof part.output !== "string") return writeBlocks(piBlocks, part.output, trusted);
  return own ? part.output : [{ type: "text", text: part.output }];
}

function writeSpoken(message: Message, content: JsonValue, own: boolean): JsonObject {
  const timestamp = message.time;
  if (message.role !== "assistant") {
    return json({ role: message.role === "system" ? "system" : "user", content, timestamp });
  }
  if (own) {
    const { provider, model, usage, stopReason } = message;
    return json({ role: "assistant", content, provider, model, usage, stopReason, timestamp });
  }
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const calls = typeof message.content !== "string" && message.content.some((part) => part.type === "tool_call");
  return json({
    role: "assistant",
    content: blocks,
    api: "unknown",
    provider: message.provider ?? "unknown",
    model: message.model ?? "unknown",
    usage: noUsage,
    stopReason: calls ? "toolUse" : "stop",
    timestamp,
  });
}

/** pi adds these numbers up without asking whether they are there. */
const noUsage: JsonObject = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
