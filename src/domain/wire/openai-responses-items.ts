import type { JsonObject, JsonValue } from "../json.ts";
import type { Message } from "../message.ts";
import type { Part, ToolCallPart } from "../part.ts";
import { readBlock } from "./exact.ts";
import { responsesBlocks } from "./openai-responses-blocks.ts";
import { arrayField, defined, inputFromText, objectField, roleNamed, stringField, without } from "./shared.ts";

/** Marks a message whose opaque part is a whole item of a type nobody here knows. */
export const itemMark = "varve:item";

/** What an item says, as far as parts can say it; the envelope keeps the fields that are left over. */
export function readItem(item: JsonObject): Message {
  const type = stringField(item, "type") ?? ("role" in item ? "message" : undefined);
  switch (type) {
    case "message":
      return readMessage(item);
    case "reasoning":
      return { role: "assistant", content: [readReasoning(item)] };
    case "compaction":
    case "compaction_summary":
      return {
        role: "assistant",
        content: [defined({ type: "compaction", encrypted: stringField(item, "encrypted_content") } as const)],
      };
    case "image_generation_call": {
      const data = stringField(item, "result");
      return data === undefined
        ? opaque(item)
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
      return type?.endsWith("_call_output") ? readOutput(item) : opaque(item);
  }
}

function opaque(item: JsonObject): Message {
  return {
    role: "assistant",
    content: [{ type: "opaque", raw: { format: "openai-responses", block: item } }],
    wire: { format: "openai-responses", fields: { [itemMark]: true } },
  };
}

function readMessage(item: JsonObject): Message {
  const role = roleNamed(item.role);
  const text = stringField(item, "content");
  const blocks = arrayField(item, "content") ?? [];
  return { role, content: text ?? blocks.map((block) => readContentBlock(role, block)) };
}

/** A picture among an assistant's blocks keeps its block, so that it is not taken for one that a tool generated. */
function readContentBlock(role: Message["role"], block: JsonValue): Part {
  const part = readBlock(responsesBlocks(role), block);
  return part.type === "image" && part.raw === undefined
    ? { ...part, raw: { format: "openai-responses", block } }
    : part;
}

function readReasoning(item: JsonObject): Part {
  const texts = [...(arrayField(item, "summary") ?? []), ...(arrayField(item, "content") ?? [])]
    .map((block) => readBlock(responsesBlocks("assistant"), block))
    .map((part) => (part.type === "text" ? part.text : ""))
    .filter((text) => text !== "");
  return defined({
    type: "reasoning",
    text: texts.join("\n\n"),
    encrypted: stringField(item, "encrypted_content"),
  } as const);
}

function readCall(item: JsonObject, type: string): ToolCallPart {
  const callId = stringField(item, "call_id") ?? stringField(item, "id") ?? "";
  const name = stringField(item, "name") ?? type.replace(/_call$/, "");
  const text = stringField(item, "arguments");
  if (text !== undefined) return { type: "tool_call", callId, name, ...inputFromText(text) };
  const free = stringField(item, "input");
  if (free !== undefined) return { type: "tool_call", callId, name, input: free, inputText: free };
  const input = item.action ?? item.operation ?? item.actions ?? null;
  return { type: "tool_call", callId, name, input };
}

/** The provider ran it, so the item holds the question and the answer; both are the input, where search finds them. */
function readHostedCall(item: JsonObject, type: string): ToolCallPart {
  return {
    type: "tool_call",
    callId: stringField(item, "id") ?? "",
    name: stringField(item, "name") ?? type.replace(/_call$/, ""),
    input: without(item, ["type", "id", "status"]),
    raw: { format: "openai-responses", block: item },
  };
}

function readOutput(item: JsonObject): Message {
  const callId = stringField(item, "call_id") ?? "";
  const name = stringField(item, "name");
  return {
    role: "tool",
    content: [defined({ type: "tool_result", callId, name, ...readResult(item.output) } as const)],
  };
}

function readResult(output: JsonValue | undefined): { output: string | Part[]; isError?: boolean } {
  if (typeof output === "string") return { output };
  if (Array.isArray(output)) return { output: output.map((block) => readBlock(responsesBlocks("tool"), block)) };
  const wrapped = objectField({ output: output ?? null }, "output");
  if (wrapped === undefined) return { output: "" };
  if (wrapped.type !== undefined) return { output: [readBlock(responsesBlocks("tool"), wrapped)] };
  const text = stringField(wrapped, "content") ?? JSON.stringify(wrapped);
  return wrapped.success === false ? { output: text, isError: true } : { output: text };
}
