import { getParts, type Message } from "../../domain/index.ts";
import type { RunRequest } from "./port.ts";

/** The conversation as one text, for programs that take only that: the newest messages and the prompt. */
export function onePrompt({ messages, prompt, asked }: RunRequest, historyLimit: number): string {
  const before = messages.filter((message) => message.id === undefined || !asked.has(message.id));
  const history = before.map(formatLine).filter((line) => line !== "");
  const left = Math.max(0, history.length - historyLimit);
  const shown = history.slice(left);
  if (shown.length === 0) return prompt;
  const note = left > 0 ? ` (the newest ${shown.length} of ${history.length})` : "";
  return `Conversation so far${note}:\n\n${shown.join("\n\n")}\n\nReply to this message:\n\n${prompt}`;
}

function formatLine(message: Message): string {
  const text = getParts(message)
    .map((part) => (part.type === "text" ? part.text : part.type === "tool_call" ? `[used ${part.name}]` : ""))
    .filter(Boolean)
    .join("\n");
  if (text === "") return "";
  const who = message.role === "assistant" ? "Assistant" : (message.name ?? "User");
  return `${who}: ${text}`;
}
