import { getParts, type Message } from "../../domain/index.ts";
import type { RunRequest } from "./port.ts";

/** The conversation as one text, for programs that take only that: the newest messages and the prompt. */
export function onePrompt({ messages, prompt, asked }: RunRequest, historyLimit: number): string {
  const before = messages.filter((message) => message.id === undefined || !asked.has(message.id));
  // Summaries, lines for runs of messages and recalled text are not messages of the log: they stay whatever the limit is.
  const spoken = before.filter((message) => message.id !== undefined);
  const left = Math.max(0, spoken.length - historyLimit);
  const hidden = new Set(spoken.slice(0, left));
  const shown = before
    .filter((message) => !hidden.has(message))
    .map(formatLine)
    .filter((line) => line !== "");
  if (shown.length === 0) return prompt;
  const note =
    left > 0 ? ` (the newest ${spoken.length - left} of ${spoken.length} messages; ${left} are not shown)` : "";
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
