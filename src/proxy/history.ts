import { createHash, hash } from "node:crypto";
import { type JsonValue, toolCallsOf, toolResultsOf } from "../domain/index.ts";
import { estimateMessageTokens } from "../engine.ts";
import type { Format, Unit } from "./wire.ts";

/** A unit of a conversation with its place in it. */
export interface Link {
  /**
   * Made from everything before it and from itself, so the same beginning has the same ids, and what follows something
   * that was edited has others.
   */
  id: string;
  unit: Unit;
  /** The hash of the unit's own bytes, by which it is known again without being looked at. */
  raw: string;
  tokens: number;
  calls: readonly string[];
  results: readonly string[];
  /** Whether somebody asks for something here; the result of a tool is no request. */
  isRequest: boolean;
}

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
export function linksOf(format: Format, units: readonly Unit[], known: readonly Link[]): Link[] {
  const links: Link[] = [];
  let previous = "";
  let isSame = true;
  for (const [index, unit] of units.entries()) {
    const raw = hash("sha1", JSON.stringify(unit.wires), "base64");
    const before = known[index];
    const link: Link =
      isSame && before?.raw === raw ? { ...before, unit } : lookedAt(format, unit, raw, previous, before);
    if (link.id !== before?.id) isSame = false;
    links.push(link);
    previous = link.id;
  }
  return links;
}

function lookedAt(format: Format, unit: Unit, raw: string, previous: string, before: Link | undefined): Link {
  const id = idAfter(previous, format.identity(unit));
  const messages = format.messages(unit);
  const results = messages.flatMap((message) => toolResultsOf(message).map(({ callId }) => callId));
  return {
    id,
    unit,
    raw,
    tokens: before?.raw === raw ? before.tokens : messages.reduce((sum, one) => sum + estimateMessageTokens(one), 0),
    calls: messages.flatMap((message) => toolCallsOf(message).map(({ callId }) => callId)),
    results,
    isRequest: messages.some(({ role }) => role === "user") && results.length === 0,
  };
}

/** The links as they are remembered: what they look like on the wire comes with the next request again. */
export function withoutWires(links: readonly Link[]): Link[] {
  return links.map((link) => ({ ...link, unit: { wires: [] } }));
}

export function tokensOfUnit(format: Format, unit: Unit): number {
  return format.messages(unit).reduce((sum, message) => sum + estimateMessageTokens(message), 0);
}

/** The id of the unit an entry of the log belongs to, and whether the unit ends with it. */
export function unitOfEntry(entryId: string): { id: string; isLast: boolean } {
  const slash = entryId.indexOf("/");
  return slash === -1 ? { id: entryId, isLast: true } : { id: entryId.slice(0, slash), isLast: false };
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
