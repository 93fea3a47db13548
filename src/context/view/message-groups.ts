import { getToolCalls, getToolResults, type Message, type Part } from "../../domain/index.ts";
import { estimateMessageTokens } from "../../text/index.ts";
import { isRequest } from "../tool-pairs.ts";
import type { MessageEntry } from "../window.ts";
import { cutMessage, fillEvenly } from "./cut-message.ts";
import type { Note } from "./view-types.ts";

/** A message as it is shown, with the notes that stay after it. */
export interface ShownMessage {
  seq: number;
  time: number;
  message: Message;
  tokens: number;
  isRequest: boolean;
  isCut: boolean;
  notes: Note[];
  /** The last message that this one stands for, when it stands for several. */
  until?: number;
}

/** Messages that are shown together or not at all: a message, or a message with tool calls and their results. */
export interface MessageGroup {
  messages: ShownMessage[];
  /** As shown, with notes. */
  tokens: number;
  /** The tokens of the messages in the log: positions in the history do not depend on how a message is shown. */
  storedTokens: number;
}

/** The shares of the stable part of a view that one message and one group of calls with results may take. */
export const messageShare = 0.25;
const callsShare = 0.35;
/** A call with its result takes at least about this many tokens. */
const pairTokens = 120;

/** Joins calls with their results, and cuts what is larger than its share. Pure: depends on the messages and the budget. */
export function groupMessages(entries: readonly MessageEntry[], budgetTokens: number): MessageGroup[] {
  const groups: MessageEntry[][] = [];
  // The group of each call. Some programs write every call of a step as a message of its own, before all results.
  const places = new Map<string, number>();
  for (const one of entries) {
    const found = one.item.results.flatMap((id) => places.get(id) ?? []);
    const first = Math.min(...found, groups.length);
    const joined = groups.splice(first).flat();
    groups.push([...joined, one]);
    for (const [id, place] of places) if (place > first) places.set(id, first);
    for (const id of one.item.results) places.delete(id);
    for (const id of one.item.calls) places.set(id, groups.length - 1);
    if (isRequest(one.item)) places.clear();
  }
  return groups.map((group) => fitGroup(group, budgetTokens));
}

/** The groups of a page that may begin in the middle of a step: results whose calls are before the page are left out. */
export function dropBrokenStart(groups: readonly MessageGroup[]): MessageGroup[] {
  const start = groups.findIndex(({ messages }) => {
    const calls = new Set(messages.flatMap(({ message }) => getToolCalls(message).map((call) => call.callId)));
    return messages.every(({ message }) => getToolResults(message).every((result) => calls.has(result.callId)));
  });
  return start === -1 ? [] : groups.slice(start);
}

function fitGroup(group: readonly MessageEntry[], budgetTokens: number): MessageGroup {
  const hasCalls = group.length > 1 || (group[0]?.item.calls.length ?? 0) > 0;
  const room = Math.floor(budgetTokens * (hasCalls ? callsShare : messageShare));
  const slim = dropEarlyPairs(group, Math.max(1, Math.floor(room / pairTokens)));
  const sizes = slim.map(({ message }) => estimateMessageTokens(message));
  const limit = fillEvenly(sizes, room);
  const messages = slim.map(({ entry, message, item }, index): ShownMessage => {
    const isLarge = (sizes[index] ?? 0) > limit;
    const shown = isLarge ? cutMessage(message, entry.seq, limit) : message;
    return {
      seq: entry.seq,
      time: entry.time,
      message: shown,
      tokens: isLarge ? estimateMessageTokens(shown) : (sizes[index] ?? 0),
      isRequest: isRequest(item),
      isCut: shown !== group.find((one) => one.entry.seq === entry.seq)?.message,
      notes: [],
      // Results without room went with their calls: the first message stands for them.
      ...(index === 0 && slim.length < group.length ? { until: group.at(-1)?.entry.seq ?? entry.seq } : {}),
    };
  });
  const whole = hasCalls && lostCalls(slim, messages) ? [toNote(group)] : messages;
  return {
    messages: whole,
    tokens: whole.reduce((sum, one) => sum + one.tokens, 0),
    storedTokens: group.reduce((sum, one) => sum + one.item.tokens, 0),
  };
}

/** Whether a call did not fit its share: its result must not be shown without it. */
function lostCalls(before: readonly MessageEntry[], after: readonly ShownMessage[]): boolean {
  const count = (messages: readonly { message: Message }[]) =>
    messages.reduce((sum, { message }) => sum + getToolCalls(message).length + getToolResults(message).length, 0);
  return count(before) !== count(after);
}

/** A step for which there is no room: one line with its citation. */
function toNote(group: readonly MessageEntry[]): ShownMessage {
  const { seq, time } = group[0]?.entry ?? { seq: 0, time: 0 };
  const names = [...new Set(group.flatMap(({ message }) => getToolCalls(message).map((call) => call.name)))];
  const message: Message = {
    role: "assistant",
    content: `[used ${names.slice(0, 3).join(", ").slice(0, 60)}; msg#${seq} has it]`,
  };
  return {
    seq,
    time,
    message,
    tokens: estimateMessageTokens(message),
    isRequest: false,
    isCut: true,
    notes: [],
    until: group.at(-1)?.entry.seq ?? seq,
  };
}

/** Of very many calls in one step, only the last are shown; a note in the message names the number of the others. */
function dropEarlyPairs(group: readonly MessageEntry[], pairsMax: number): MessageEntry[] {
  const calls = group.flatMap(({ message }) => getToolCalls(message));
  if (calls.length <= pairsMax) return [...group];
  const dropped = new Set(calls.slice(0, calls.length - pairsMax).map((call) => call.callId));
  return group.flatMap((one): MessageEntry[] => {
    const { message } = one;
    if (typeof message.content === "string") return [one];
    const left = message.content.filter(
      (part) => !((part.type === "tool_call" || part.type === "tool_result") && dropped.has(part.callId)),
    );
    if (left.length === message.content.length) return [one];
    const removed = getToolCalls(message).filter((call) => dropped.has(call.callId)).length;
    const note: Part = { type: "text", text: `[${removed} more tool calls left out; msg#${one.entry.seq} has them]` };
    const content = removed > 0 ? [note, ...left] : left;
    if (content.length === 0 || (removed === 0 && getToolResults({ content }).length === 0)) return [];
    const { wire: _, ...rest } = message;
    return [{ ...one, message: { ...rest, content } }];
  });
}

export function sumTokens(items: readonly { tokens: number }[]): number {
  return items.reduce((total, { tokens }) => total + tokens, 0);
}
