import type { Message, Varve } from "../../index.ts";
import { messageAt } from "../conversation.ts";

export const agentCount = 10;
/** The only agent of the growth table whose messages have vectors. */
export const embeddedAgent = "bench0";
/** Every conversation gets this many messages, so that more messages mean more conversations. */
const conversationMessages = 5_000;
const batchMessages = 500;
/** A word of nine in ten messages, and one of each thousandth. */
export const words = { most: "ledger", common: "schema", rare: (number: number) => `harbour${number}` };
const rareEvery = 1_000;

/** Whose message has this number, counted from 0; agents take turns by conversation. */
export function nameAgent(index: number): string {
  return `bench${index % agentCount}`;
}

export function nameConversation(agent: string, number: number): string {
  return `agent:${agent}:scale-${number}`;
}

/** The message with this number of an agent. */
export function createMessage(agentIndex: number, index: number): Message {
  const message = messageAt(index * agentCount + agentIndex);
  const extra = [
    ...(index % 10 === 0 ? [] : [words.most]),
    ...(index % rareEvery === 7 ? [words.rare(Math.floor(index / rareEvery))] : []),
  ].join(" ");
  return { ...message, content: appendText(message.content, extra) };
}

function appendText(content: Message["content"], extra: string): Message["content"] {
  if (typeof content === "string") return `${content} ${extra}`;
  return [...content, { type: "text", text: extra }];
}

/** Appends messages of an agent from one number to another, each conversation in batches. Returns the bytes of text. */
export async function appendHistory(
  varve: Varve,
  agentIndex: number,
  range: { from: number; to: number },
  measure: (message: Message) => number,
): Promise<number> {
  const agent = nameAgent(agentIndex);
  let bytes = 0;
  for (let at = range.from; at < range.to; ) {
    const number = Math.floor(at / conversationMessages);
    const end = Math.min(range.to, (number + 1) * conversationMessages, at + batchMessages);
    const session = await varve.sessions.resolve({ key: nameConversation(agent, number) });
    const messages = Array.from({ length: end - at }, (_, index) => createMessage(agentIndex, at + index));
    for (const message of messages) bytes += measure(message);
    await varve.context.ingest(session, messages);
    at = end;
  }
  return bytes;
}
