import { LRUCache } from "lru-cache";
import { getParts } from "../domain/index.ts";

import type { Format, Unit } from "./wire.ts";

/** Shorter lines occur in too many texts to identify one. */
const lineCharactersMin = 30;
const shareMin = 0.5;
const repliesPerScope = 8;
const scopesMax = 256;
const replyCharactersMax = 60_000;

interface LastReply {
  key: string;
  lines: readonly string[];
}

/**
 * Recognises conversations that a client compacted itself: it asks the model for a summary and starts a conversation
 * with it, so the first message contains the last reply of the conversation that it continues.
 */
export class Continuations {
  readonly #scopes = new LRUCache<string, LastReply[]>({ max: scopesMax });

  /** Records the last reply of a conversation; `scope` is the client's session. */
  record(scope: string, key: string, format: Format, reply: Unit): void {
    const lines = splitLines(getUnitText(format, reply).slice(-replyCharactersMax));
    const others = (this.#scopes.get(scope) ?? []).filter((one) => one.key !== key);
    this.#scopes.set(scope, [{ key, lines }, ...others].slice(0, repliesPerScope));
  }

  /** Returns the key of the conversation that a first message continues; undefined when it starts a new one. */
  find(scope: string, key: string, format: Format, first: Unit | undefined): string | undefined {
    const replies = this.#scopes.get(scope);
    if (replies === undefined || first === undefined) return undefined;
    const text = getUnitText(format, first);
    return replies.find((one) => one.key !== key && containsLines(text, one.lines))?.key;
  }
}

function containsLines(text: string, lines: readonly string[]): boolean {
  const found = lines.filter((line) => text.includes(line)).length;
  return found > 0 && found >= lines.length * shareMin;
}

function splitLines(text: string): string[] {
  // The client drops the text before the summary.
  const [start, end] = [text.indexOf("<summary>"), text.lastIndexOf("</summary>")];
  const summary = start === -1 || end < start ? text : text.slice(start + "<summary>".length, end);
  return summary
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line.length >= lineCharactersMin);
}

function getUnitText(format: Format, unit: Unit): string {
  const parts = format.messages(unit).flatMap(getParts);
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}
