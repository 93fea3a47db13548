import type { JsonObject, JsonValue } from "../json.ts";
import type { Message, Part, ToolResultPart } from "../message.ts";
import { type BlockCodec, checkMessageObject, readBlock, type Segment, splitSegments, writeBlocks } from "./blocks.ts";
import { canVerifySignatures, finishMessage, writeMessage } from "./envelope.ts";
import { getArray, getObject, getString, omitUndefined, toInputObject, toJsonObject } from "./fields.ts";

/**
 * Reads a message of pi's agent, which OpenClaw shares. Its additional kinds (shell commands of the user, messages of
 * extensions, summaries) become user messages, as pi sends them to a model.
 */
export function fromPi(wire: unknown): Message {
  const original = checkMessageObject("pi", wire);
  const time = typeof original.timestamp === "number" ? original.timestamp : undefined;
  const draft = omitUndefined({ ...readByRole(original), time });
  const settled: Message = draft.role === "assistant" ? { ...draft, wire: { format: "pi", fields: {} } } : draft;
  return finishMessage("pi", settled, original, rebuild);
}

/**
 * Writes a message for pi: one per assistant turn, result and user turn. Required fields without a known value get
 * defaults.
 */
export function toPi(message: Message): JsonObject[] {
  return writeMessage("pi", message, rebuild);
}

function readByRole(original: JsonObject): Message {
  switch (original.role) {
    case "assistant":
      return {
        role: "assistant",
        content: readContent(original),
        provider: getString(original, "provider"),
        model: getString(original, "model"),
        usage: getObject(original, "usage"),
        stopReason: getString(original, "stopReason"),
      };
    case "toolResult":
      return { role: "tool", content: [readResult(original)] };
    case "bashExecution": {
      const command = getString(original, "command") ?? "";
      const output = getString(original, "output") ?? "";
      return { role: "user", content: `$ ${command}\n${output}` };
    }
    case "branchSummary":
    case "compactionSummary":
      return {
        role: "user",
        content: [omitUndefined({ type: "compaction", summary: getString(original, "summary") } as const)],
      };
    case "system":
      return { role: "system", content: readContent(original) };
    default:
      return { role: "user", content: readContent(original) };
  }
}

function readContent(original: JsonObject): string | Part[] {
  const text = getString(original, "content");
  return text ?? (getArray(original, "content") ?? []).map((block) => readBlock(piBlocks, block));
}

function readResult(original: JsonObject): ToolResultPart {
  return omitUndefined({
    type: "tool_result",
    callId: getString(original, "toolCallId") ?? "",
    name: getString(original, "toolName"),
    output: readContent(original),
    isError: typeof original.isError === "boolean" ? original.isError : undefined,
  } as const);
}

function rebuild(message: Message): JsonObject[] {
  const own = message.wire?.format === "pi";
  const trusted = canVerifySignatures("pi", message);
  if (typeof message.content === "string") return [writeMessageBody(message, message.content, own)];
  const segments = splitSegments(message);
  if (segments.length === 0 && own && message.role !== "tool") segments.push({ role: message.role, parts: [] });
  return segments.flatMap((segment) => writeSegment(segment, message, own, trusted));
}

function writeSegment(segment: Segment, message: Message, own: boolean, trusted: boolean): JsonObject[] {
  if (segment.role === "tool") {
    return segment.results.map((part) =>
      toJsonObject({
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
  return blocks.length === 0 && !own ? [] : [writeMessageBody({ ...message, role: segment.role }, blocks, own)];
}

function writeOutput(part: ToolResultPart, own: boolean, trusted: boolean): JsonValue {
  if (typeof part.output !== "string") return writeBlocks(piBlocks, part.output, trusted);
  return own ? part.output : [{ type: "text", text: part.output }];
}

function writeMessageBody(message: Message, content: JsonValue, own: boolean): JsonObject {
  const timestamp = message.time;
  if (message.role !== "assistant") {
    return toJsonObject({ role: message.role === "system" ? "system" : "user", content, timestamp });
  }
  if (own) {
    const { provider, model, usage, stopReason } = message;
    return toJsonObject({ role: "assistant", content, provider, model, usage, stopReason, timestamp });
  }
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const calls = typeof message.content !== "string" && message.content.some((part) => part.type === "tool_call");
  return toJsonObject({
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

/** pi sums these numbers without checking that they exist. */
const noUsage: JsonObject = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

const piBlocks: BlockCodec = { format: "pi", read: readPiBlock, write: writePiBlock };

function readPiBlock(block: JsonObject): Part | undefined {
  switch (block.type) {
    case "text": {
      const text = getString(block, "text");
      return text === undefined ? undefined : { type: "text", text };
    }
    case "thinking": {
      const text = getString(block, "thinking");
      const signature = getString(block, "thinkingSignature");
      if (text === undefined) return undefined;
      // Redacted thinking has no text; its signature is the provider's encrypted block.
      if (block.redacted === true) return omitUndefined({ type: "reasoning", text: "", encrypted: signature } as const);
      return omitUndefined({ type: "reasoning", text, signature } as const);
    }
    case "toolCall": {
      const callId = getString(block, "id");
      const name = getString(block, "name");
      if (callId === undefined || name === undefined) return undefined;
      return { type: "tool_call", callId, name, input: block.arguments ?? null };
    }
    case "image": {
      const data = getString(block, "data");
      if (data === undefined) return undefined;
      return omitUndefined({
        type: "image",
        source: { kind: "base64", data },
        mediaType: getString(block, "mimeType"),
      } as const);
    }
    default:
      return undefined;
  }
}

function writePiBlock(part: Part, trusted: boolean): JsonValue | undefined {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "reasoning":
      if (trusted && part.encrypted !== undefined && part.text === "") {
        return { type: "thinking", thinking: "", thinkingSignature: part.encrypted, redacted: true };
      }
      if (!trusted && part.text === "") return undefined;
      return toJsonObject({
        type: "thinking",
        thinking: part.text,
        thinkingSignature: trusted ? part.signature : undefined,
      });
    case "tool_call":
      return { type: "toolCall", id: part.callId, name: part.name, arguments: toInputObject(part.input) };
    case "image":
      if (part.source.kind !== "base64") return undefined;
      return { type: "image", data: part.source.data, mimeType: part.mediaType ?? "image/png" };
    case "file":
      return part.source.kind === "text" ? { type: "text", text: part.source.text } : undefined;
    case "compaction":
      return part.summary === undefined ? undefined : { type: "text", text: part.summary };
    default:
      return undefined;
  }
}
