import type { Message, Part } from "./message.ts";

/**
 * Removes the content of a message and keeps its form: its role, and the ids that tie tool calls to their results, so that
 * a conversation around it stays valid for every provider. The name of the speaker and the caller's data are removed too.
 */
export function redactMessage({ role, content }: Pick<Message, "role" | "content">, placeholder: string): Message {
  if (typeof content === "string") return { role, content: placeholder };
  const tools = content.flatMap((part) => redactToolPart(part, placeholder));
  return { role, content: tools.length > 0 ? tools : placeholder };
}

function redactToolPart(part: Part, placeholder: string): Part[] {
  if (part.type === "tool_call") return [{ type: "tool_call", callId: part.callId, name: part.name, input: {} }];
  if (part.type === "tool_result") return [{ type: "tool_result", callId: part.callId, output: placeholder }];
  return [];
}
