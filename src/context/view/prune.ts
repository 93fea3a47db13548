import type { Message, Part, ToolResultPart } from "../../domain/index.ts";
import { estimateMessageTokens } from "../../text/index.ts";
import type { MessageEntry } from "../window.ts";

/** Longer pruned tool results show only their start and end. */
const softTrimCharacters = 4_000;
const keptCharacters = 1_500;
/** This many of the newest assistant turns keep their tool results whole. */
const protectedTurns = 3;

/** The last entry whose tool results may be truncated: the one before the last few assistant turns. */
export function prunableUpTo(entries: readonly MessageEntry[]): number {
  let turns = 0;
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    if (entries[index]?.message.role === "assistant") turns += 1;
    if (turns === protectedTurns) return entries[index - 1]?.entry.seq ?? 0;
  }
  return 0;
}

/** The messages with old tool results truncated. Each names what was cut and where the whole is. */
export function pruneOld(entries: readonly MessageEntry[], upTo: number): MessageEntry[] {
  return entries.map((one) => (one.entry.seq <= upTo ? pruned(one) : one));
}

function pruned(one: MessageEntry): MessageEntry {
  const { message, entry } = one;
  if (typeof message.content === "string") return one;
  const content = message.content.map((part) =>
    part.type === "tool_result" ? trimResult(part, keptCharacters, `open msg#${entry.seq} for the whole`) : part,
  );
  if (content.every((part, index) => part === message.content[index])) return one;
  const shorter: Message = { ...message, content };
  return { ...one, message: shorter, item: { ...one.item, tokens: estimateMessageTokens(shorter) } };
}

/** A result without the middle of its long texts; unchanged when there are none. */
export function trimResult(part: ToolResultPart, kept: number, where: string): ToolResultPart {
  const trim = (text: string): string => {
    if (text.length <= Math.max(softTrimCharacters, 2 * kept)) return text;
    const head = text.slice(0, kept).toWellFormed();
    const tail = text.slice(-kept).toWellFormed();
    return `${head}\n[… ${text.length - 2 * kept} characters left out; ${where} …]\n${tail}`;
  };
  if (typeof part.output === "string") {
    const output = trim(part.output);
    return output === part.output ? part : withoutRaw({ ...part, output });
  }
  const output = part.output.map((inner): Part => {
    if (inner.type !== "text") return inner;
    const text = trim(inner.text);
    return text === inner.text ? inner : withoutRaw({ ...inner, text });
  });
  return output.every((inner, index) => inner === part.output[index]) ? part : withoutRaw({ ...part, output });
}

/** Removes the provider's original block, which would restore the whole text. */
export function withoutRaw<T extends { raw?: unknown }>(part: T): T {
  const { raw: _raw, ...rest } = part;
  return rest as T;
}

const heartbeatOk = /^\s*HEARTBEAT_OK\s*$/;

/** Removes heartbeats without a reply, and the messages that asked for them. */
export function withoutHeartbeats(entries: readonly MessageEntry[], upTo: number): MessageEntry[] {
  const dropped = new Set<MessageEntry>();
  for (const [index, one] of entries.entries()) {
    const { message, entry } = one;
    if (entry.seq > upTo || message.role !== "assistant" || !heartbeatOk.test(plainText(message))) continue;
    dropped.add(one);
    const asked = entries[index - 1];
    if (asked?.message.role === "user") dropped.add(asked);
  }
  return dropped.size === 0 ? [...entries] : entries.filter((one) => !dropped.has(one));
}

function plainText(message: Message): string {
  if (typeof message.content === "string") return message.content;
  return message.content.length === 1 && message.content[0]?.type === "text" ? message.content[0].text : "";
}
