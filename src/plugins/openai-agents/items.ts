import { isJsonObject, type JsonObject, type JsonValue, type Message, type Part } from "../../domain/index.ts";

/** An item of a conversation of the OpenAI Agents SDK: a message, a call, a result, reasoning, or another block. */
export interface AgentItem {
  type?: string;
  role?: string;
  [field: string]: unknown;
}

/** Converts an item to a message that can be searched and summarised; the item itself is stored next to it. */
export function toMessage(item: JsonObject): Message | undefined {
  switch (item.type ?? "message") {
    case "message":
      return { role: readRole(item.role), content: readContent(item.content ?? "") };
    case "function_call":
    case "hosted_tool_call":
    case "shell_call":
    case "computer_call":
      return { role: "assistant", content: [readCall(item)] };
    case "function_call_result":
    case "shell_call_output":
    case "computer_call_result":
      return {
        role: "tool",
        content: [{ type: "tool_result", callId: String(item.callId ?? ""), output: readOutput(item.output ?? "") }],
      };
    case "reasoning":
      return { role: "assistant", content: [{ type: "reasoning", text: readTexts(item.content).join("\n") }] };
    default:
      return undefined;
  }
}

/** Creates the item of a text that the model reads as the user's. */
export function createTextItem(text: string): AgentItem {
  return { type: "message", role: "user", content: text };
}

function readRole(role: unknown): Message["role"] {
  return role === "assistant" || role === "system" ? role : "user";
}

function readContent(content: JsonValue): string | Part[] {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.flatMap((block): Part[] => {
    if (!isJsonObject(block)) return [];
    if (typeof block.text === "string") return [{ type: "text", text: block.text }];
    if (typeof block.refusal === "string") return [{ type: "text", text: block.refusal }];
    if (block.type === "input_image" && typeof block.image === "string")
      return [{ type: "image", source: { kind: "url", url: block.image } }];
    return [];
  });
}

function readCall(item: JsonObject): Part {
  const text =
    typeof item.arguments === "string" ? item.arguments : JSON.stringify(item.arguments ?? item.action ?? {});
  let input: JsonValue = text;
  try {
    input = JSON.parse(text) as JsonValue;
  } catch {
    // Models may send arguments that are no JSON; they are stored as they are.
  }
  return {
    type: "tool_call",
    callId: String(item.callId ?? item.id ?? ""),
    name: String(item.name ?? item.type),
    input,
  };
}

function readOutput(output: JsonValue): string {
  if (typeof output === "string") return output;
  const texts = readTexts(Array.isArray(output) ? output : [output]);
  return texts.length > 0 ? texts.join("\n") : JSON.stringify(output);
}

function readTexts(blocks: JsonValue | undefined): string[] {
  if (!Array.isArray(blocks)) return [];
  return blocks.flatMap((block) => (isJsonObject(block) && typeof block.text === "string" ? [block.text] : []));
}
