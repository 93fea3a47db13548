/**
 * A model of a test that can only know what it is sent: it answers questions about facts from its own prompt, searches
 * its memory when the answer is not there, and runs the commands it is asked to run.
 */
import { type ChatBody, type ChatMessage, type Says, textOf } from "./chat-server.ts";

/** Sentences that state a fact: `The code of the harbour is K-17.` */
export const stateFact = (name: string, value: string) => `The code of the ${name} is ${value}.`;
export const askFact = (name: string) => `What is the code of the ${name}?`;

/** What the model does with the last message. */
export function answerFromPrompt(body: ChatBody): Says {
  const messages = body.messages.filter((message) => message.role !== "system" && !isAdded(message));
  const at = messages.findLastIndex((message) => message.role === "user");
  const request = stripAdded(textOf(messages[at] ?? { role: "user", content: "" }));
  const calls = messages.slice(at + 1).filter((message) => message.role === "tool");
  const command = /Run: (.+)/.exec(request)?.[1];
  if (command !== undefined) {
    if (calls.length === 0) return { calls: [{ name: "exec", input: { command } }] };
    return { text: `The command printed: ${textOf(calls[0] as ChatMessage).slice(-200)}` };
  }
  const task = /Delegate: (.+)/.exec(request)?.[1];
  if (task !== undefined && calls.length === 0) {
    return { calls: [{ name: "tool_call", input: { id: "sessions_spawn", args: { task } } }] };
  }
  const asked = /What is the code of the ([\w -]+)\?/.exec(request)?.[1];
  if (asked === undefined) return { text: `Noted: ${request.slice(0, 80)}` };
  const found = findCode(body, asked);
  if (found !== undefined) return { text: `The code is ${found}.` };
  const canSearch = body.tools?.some((tool) => tool.function.name === "memory_search") ?? false;
  if (calls.length > 0 || !canSearch) return { text: "I do not know." };
  return { calls: [{ name: "memory_search", input: { query: `code of the ${asked}` } }] };
}

/** The last code that any text of the prompt states. */
function findCode({ messages }: ChatBody, name: string): string | undefined {
  const pattern = new RegExp(`code of the ${name} is ([A-Z]-\\d+)`, "g");
  const text = messages.map(textOf).join("\n");
  return [...text.matchAll(pattern)].at(-1)?.[1];
}

/** Whether OpenClaw or a memory added the whole message, and the person nothing. */
function isAdded(message: ChatMessage): boolean {
  return message.role === "user" && stripAdded(textOf(message)) === "";
}

/** What the person said in a message: without its time, and without blocks that were put around it. */
function stripAdded(text: string): string {
  return text
    .replace(/^\[[^\]\n]*\]\s*/, "")
    .replaceAll(/<<<BEGIN_OPENCLAW[\s\S]*?END_OPENCLAW_INTERNAL_CONTEXT>>>/g, "")
    .replaceAll(/<(recalled|memories|summary)\b[\s\S]*?<\/\1>/g, "")
    .trim();
}
