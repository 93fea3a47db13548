import { createHash, hash } from "node:crypto";
import { getParts, getToolCalls, getToolResults, type JsonValue } from "../domain/index.ts";
import { estimateMessageTokens } from "../engine.ts";
import type { Format, Unit } from "./wire.ts";

/** What is known of a unit of a conversation and of its place in it. */
export interface Link {
  /**
   * Made from everything before it and from itself, so the same beginning has the same ids, and what follows something
   * that was edited has others.
   */
  readonly id: string;
  readonly tokens: number;
  readonly calls: readonly string[];
  readonly results: readonly string[];
  /** Whether somebody asks for something here; the result of a tool is no request. */
  readonly isRequest: boolean;
  /** Whether it is an instruction that a client put between the messages. */
  readonly isInstruction: boolean;
}

/** What is remembered of a history between two requests, so that the next one need not be looked at from its start. */
export interface KnownHistory {
  links: readonly Link[];
  /** A hash for every so many units, of their own bytes. */
  blocks: readonly string[];
}

export const nothingKnown: KnownHistory = { links: [], blocks: [] };

/** A change looks at this many units again; everything before it costs a hash. */
const blockUnits = 64;

const idLength = 32;

export function idAfter(previous: string, identity: JsonValue): string {
  return createHash("sha256")
    .update(previous)
    .update("\n")
    .update(JSON.stringify(identity))
    .digest("hex")
    .slice(0, idLength);
}

/** The history of a request. What is known from the last one costs a hash; the rest is looked at. */
export function readHistory(format: Format, units: readonly Unit[], known: KnownHistory): KnownHistory {
  const links: Link[] = [];
  const blocks: string[] = [];
  let isSame = true;
  for (let start = 0; start < units.length; start += blockUnits) {
    const block = units.slice(start, start + blockUnits);
    const raw = hash("sha1", JSON.stringify(block), "base64");
    const before = known.links.slice(start, start + blockUnits);
    if (isSame && known.blocks[blocks.length] === raw) links.push(...before);
    else for (const [index, unit] of block.entries()) links.push(linkOf(format, unit, links.at(-1)?.id, before[index]));
    isSame &&= links.at(-1)?.id === before.at(block.length - 1)?.id;
    blocks.push(raw);
  }
  return { links, blocks };
}

function linkOf(format: Format, unit: Unit, previous: string | undefined, before: Link | undefined): Link {
  const id = idAfter(previous ?? "", format.identity(unit));
  // What comes and goes beside the words, such as a client's reminders, is not worth counting again.
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

export function tokensOfUnit(format: Format, unit: Unit): number {
  return format.messages(unit).reduce((sum, message) => sum + estimateMessageTokens(message), 0);
}

/** The id of the unit an entry of the log belongs to, and whether the unit ends with it. */
export function unitOfEntry(entryId: string): { id: string; isLast: boolean } {
  const slash = entryId.indexOf("/");
  return slash === -1 ? { id: entryId, isLast: true } : { id: entryId.slice(0, slash), isLast: false };
}

const titleCharacters = 80;

/** The first words of a conversation, without what a client put before them. */
export function titleOf(format: Format, units: readonly Unit[]): string {
  const first = units[0] === undefined ? [] : format.messages(units[0]);
  const texts = first.flatMap(getParts).flatMap((part) => (part.type === "text" ? [part.text.trim()] : []));
  const said = texts.findLast((text) => text !== "" && !text.startsWith("<")) ?? texts.at(-1) ?? "";
  const line = said.replaceAll(/\s+/g, " ");
  return line.length <= titleCharacters ? line : `${line.slice(0, titleCharacters - 1).toWellFormed()}…`;
}

/** The first place at or before `from` from which a history can be sent: no result there without its call. */
export function cleanStart(links: readonly Link[], from: number): number {
  let start = Math.max(0, Math.min(from, links.length - 1));
  const calls = new Set(links.slice(start).flatMap((link) => link.calls));
  const missing = new Set(links.slice(start).flatMap((link) => link.results.filter((id) => !calls.has(id))));
  while (start > 0 && missing.size > 0) {
    start -= 1;
    const link = links[start];
    for (const id of link?.calls ?? []) missing.delete(id);
    // A result that stands before its call's place again may miss a call of its own.
    for (const id of link?.results ?? []) if (!calls.has(id)) missing.add(id);
    for (const id of link?.calls ?? []) calls.add(id);
  }
  return start;
}
