import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import type { Message, Part } from "../message.ts";
import { checkMessageObject, isHosted, writeBlock, writeBlocks } from "./blocks.ts";
import { canVerifySignatures, finishMessage, writeMessage } from "./envelope.ts";
import { formatInput, toJsonObject } from "./fields.ts";
import { itemMark, readItem, selectBlockCodec } from "./openai-responses-items.ts";

/** Reads one item of the Responses API: a message, call, result, reasoning or compaction. */
export function fromOpenaiResponses(wire: unknown): Message {
  const original = checkMessageObject("openai-responses", wire);
  return finishMessage("openai-responses", readItem(original), original, rebuild);
}

/** Writes a message as items: consecutive text and images form one message item; every call and result is its own. */
export function toOpenaiResponses(message: Message): JsonObject[] {
  return writeMessage("openai-responses", message, rebuild);
}

function rebuild(message: Message): JsonObject[] {
  const own = message.wire?.format === "openai-responses";
  const role = message.role === "tool" ? "user" : message.role;
  if (typeof message.content === "string") return [{ type: "message", role, content: message.content }];
  const trusted = canVerifySignatures("openai-responses", message);
  const items: JsonObject[] = [];
  let run: JsonValue[] | undefined;
  for (const part of message.content) {
    const item = writeItem(part, message, trusted);
    if (item !== undefined) {
      items.push(item);
      run = undefined;
      continue;
    }
    const block = isItemOnly(part) ? undefined : writeBlock(selectBlockCodec(role), part, trusted);
    if (block === undefined) continue;
    if (run === undefined) {
      run = [];
      items.push({ type: "message", role, content: run });
    }
    run.push(block);
  }
  return items.length === 0 && own ? [{ type: "message", role, content: [] }] : items;
}

function isItemOnly(part: Part): boolean {
  return part.type === "tool_call" || part.type === "tool_result" || part.type === "reasoning";
}

function writeItem(part: Part, message: Message, trusted: boolean): JsonObject | undefined {
  const own = message.wire?.format === "openai-responses";
  const block = part.raw?.format === "openai-responses" ? part.raw.block : undefined;
  if (isJsonObject(block) && isItem(part, block, message)) return block;
  if (isHosted(part)) return undefined;
  switch (part.type) {
    case "tool_call":
      return { type: "function_call", call_id: part.callId, name: part.name, arguments: formatInput(part) };
    case "tool_result":
      return {
        type: "function_call_output",
        call_id: part.callId,
        output:
          typeof part.output === "string" ? part.output : writeBlocks(selectBlockCodec("tool"), part.output, trusted),
      };
    case "reasoning": {
      if (!trusted || (part.encrypted === undefined && !own)) return undefined;
      const summary = part.text === "" ? [] : [{ type: "summary_text", text: part.text }];
      return toJsonObject({ type: "reasoning", summary, encrypted_content: part.encrypted });
    }
    case "compaction":
      return trusted && part.encrypted !== undefined
        ? { type: "compaction", encrypted_content: part.encrypted }
        : undefined;
    case "image":
      // An image that the model generated is an item; one that it was shown is a block.
      return own && message.role === "assistant" && part.source.kind === "base64" && block === undefined
        ? { type: "image_generation_call", result: part.source.data }
        : undefined;
    default:
      return undefined;
  }
}

/** Whether a stored block is a complete item, not a block of a message item. */
function isItem(part: Part, block: JsonObject, message: Message): boolean {
  if (part.type === "tool_call" || part.type === "tool_result") return true;
  if (part.type !== "opaque") return false;
  if (message.wire?.format === "openai-responses") return message.wire.fields[itemMark] === true;
  return typeof block.type === "string" && /(_call|_output|_request|_response|_tools|_reference)$/.test(block.type);
}
