import { createHash, hash } from "node:crypto";
import { getParts, getToolCalls, getToolResults, type JsonValue } from "../domain/index.ts";
import { estimateMessageTokens } from "../index.ts";
import type { Format, Unit } from "./wire.ts";

/** A unit of a conversation, identified by its position in it. */
export interface Link {
  /**
   * A hash of everything before it and of itself: equal histories have equal ids, and every unit after an edited one gets
   * another id.
   */
  readonly id: string;
  readonly tokens: number;
  readonly calls: readonly string[];
  readonly results: readonly string[];
  /** Whether it is a message of the user; tool results are not. */
  readonly isRequest: boolean;
  /** Whether it is a system message between the messages. */
  readonly isInstruction: boolean;
}

/** The history of the last request, so that the next one is not read from its start. */
export interface KnownHistory {
  links: readonly Link[];
  /** A hash of the bytes of every `blockUnits` units. */
  blocks: readonly string[];
}

export const emptyHistory: KnownHistory = { links: [], blocks: [] };

/** After a change this many units are read again; everything before it costs a hash. */
const blockUnits = 64;

const idLength = 32;

export function chainId(previous: string, identity: JsonValue): string {
  return createHash("sha256")
    .update(previous)
    .update("\n")
    .update(JSON.stringify(identity))
    .digest("hex")
    .slice(0, idLength);
}

/** Reads the history of a request. Blocks that are known from the last request are not read again. */
export function readHistory(format: Format, units: readonly Unit[], known: KnownHistory): KnownHistory {
  const links: Link[] = [];
  const blocks: string[] = [];
  let isSame = true;
  for (let start = 0; start < units.length; start += blockUnits) {
    const block = units.slice(start, start + blockUnits);
    const raw = hash("sha1", JSON.stringify(block), "base64");
    const before = known.links.slice(start, start + blockUnits);
    if (isSame && known.blocks[blocks.length] === raw) links.push(...before);
    else
      for (const [index, unit] of block.entries())
        links.push(createLink(format, unit, links.at(-1)?.id, before[index]));
    isSame &&= links.at(-1)?.id === before.at(block.length - 1)?.id;
    blocks.push(raw);
  }
  return { links, blocks };
}

function createLink(format: Format, unit: Unit, previous: string | undefined, before: Link | undefined): Link {
  const id = chainId(previous ?? "", format.identity(unit));
  // Parts that do not change the identity, such as a client's reminders, are not counted again.
  if (before?.id === id) return before;
  const messages = format.messages(unit);
  const results = messages.flatMap((message) => getToolResults(message).map(({ callId }) => callId));
  return {
    id,
    tokens: messages.reduce((sum, one) => sum + estimateMessageTokens(one), 0),
    calls: messages.flatMap((message) => getToolCalls(message).map(({ callId }) => callId)),
    results,
    isRequest: messages.some(({ role }) => role === "user") && results.length === 0,
    isInstruction: messages.every(({ role }) => role === "system"),
  };
}

export function estimateUnitTokens(format: Format, unit: Unit): number {
  return format.messages(unit).reduce((sum, message) => sum + estimateMessageTokens(message), 0);
}

/** Returns the id of the unit that an entry belongs to, and whether the entry is its last. */
export function parseEntryId(entryId: string): { id: string; isLast: boolean } {
  const slash = entryId.indexOf("/");
  return slash === -1 ? { id: entryId, isLast: true } : { id: entryId.slice(0, slash), isLast: false };
}

const titleCharacters = 80;

/** Creates a title from the first text of a conversation; text in tags is the client's own and is skipped. */
export function createTitle(format: Format, units: readonly Unit[]): string {
  const first = units[0] === undefined ? [] : format.messages(units[0]);
  const texts = first.flatMap(getParts).flatMap((part) => (part.type === "text" ? [part.text.trim()] : []));
  const text = texts.findLast((one) => one !== "" && !one.startsWith("<")) ?? texts.at(-1) ?? "";
  const line = text.replaceAll(/\s+/g, " ");
  return line.length <= titleCharacters ? line : `${line.slice(0, titleCharacters - 1).toWellFormed()}…`;
}

/** Returns the last index at or before `from` where a history can start: every tool result after it has its call. */
export function findCleanStart(links: readonly Link[], from: number): number {
  let start = Math.max(0, Math.min(from, links.length - 1));
  const calls = new Set(links.slice(start).flatMap((link) => link.calls));
  const missing = new Set(links.slice(start).flatMap((link) => link.results.filter((id) => !calls.has(id))));
  while (start > 0 && missing.size > 0) {
    start -= 1;
    const link = links[start];
    for (const id of link?.calls ?? []) missing.delete(id);
    // A result that is included now may need a call from further back.
    for (const id of link?.results ?? []) if (!calls.has(id)) missing.add(id);
    for (const id of link?.calls ?? []) calls.add(id);
  }
  return start;
}
