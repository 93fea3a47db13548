import { isJsonObject, type JsonObject, type JsonValue, toVarveError } from "../../domain/index.ts";
import type { ReaderEvent } from "./reader.ts";

/** One record, read. `exactText` is there when a number in it is more precise than JavaScript can hold. */
export interface ParsedRecord {
  value: JsonObject;
  exactText?: string;
}

/** Why a record cannot be read; caught where the record was handed over, and reported with it. */
export class BadRecord extends Error {}

/** Values are walked by recursion, so that a hostile depth must be refused before anything walks it. */
const depthMax = 500;

/** Whatever is wrong with a record becomes an event, so that one bad line never ends an import. */
export function guardedRead(read: (record: ParsedRecord) => ReaderEvent[]): (text: string) => ReaderEvent[] {
  return (text) => {
    try {
      const events = read(parseRecord(text));
      return events.length > 0 ? events : [{ kind: "bad", reason: "the record says nothing" }];
    } catch (error) {
      const reason = error instanceof BadRecord ? error.message : `it cannot be read: ${toVarveError(error).message}`;
      return [{ kind: "bad", reason }];
    }
  };
}

function parseRecord(text: string): ParsedRecord {
  const { depth, numbers } = scan(text);
  if (depth > depthMax) throw new BadRecord(`it is nested more than ${depthMax} levels deep`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new BadRecord(`it is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isJsonObject(value)) throw new BadRecord(`it is ${kindOf(value)}, not an object`);
  return numbers.every(isHeldExactly) ? { value } : { value, exactText: text };
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}

/** How deep the text nests, and the numbers in it that might not survive; both without building anything. */
function scan(text: string): { depth: number; numbers: string[] } {
  const suspicious = /\d{16}|\d[eE][+-]?\d/.test(text);
  const numbers: string[] = [];
  let depth = 0;
  let depthSeen = 0;
  for (let index = 0; index < text.length; index += 1) {
    const char = text.charCodeAt(index);
    if (char === 0x22) index = endOfString(text, index);
    else if (char === 0x5b || char === 0x7b) {
      depth += 1;
      if (depth > depthSeen) depthSeen = depth;
    } else if (char === 0x5d || char === 0x7d) depth -= 1;
    else if (suspicious && char >= 0x30 && char <= 0x39) {
      const number = /^[\d.eE+-]+/.exec(text.slice(index, index + 400))?.[0] ?? "";
      if (number.length >= 16 || /[eE]/.test(number)) numbers.push(number);
      index += Math.max(0, number.length - 1);
    }
  }
  return { depth: depthSeen, numbers };
}

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === 0x5c) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}

function isHeldExactly(number: string): boolean {
  const held = Number(number);
  if (!Number.isFinite(held)) return false;
  return /^\d+$/.test(number) ? BigInt(held) === BigInt(number) : /[eE]/.test(number) || String(held) === number;
}

/** An id of the source, or `undefined` where it has none. A number is refused: it may already have lost digits. */
export function sourceId(value: JsonValue | undefined, name: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw new BadRecord(`its ${name} is ${kindOf(value)}, not a string`);
  if (value === "" || value.length > 512) throw new BadRecord(`its ${name} is ${value.length} characters long`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: an id with a control character cannot be a key.
  if (!value.isWellFormed() || /[\u0000-\u001f\u007f]/.test(value)) {
    throw new BadRecord(`its ${name} has characters that no id may have`);
  }
  return value;
}

export function textField(record: JsonObject, key: string): string | undefined {
  const value = Object.hasOwn(record, key) ? record[key] : undefined;
  return typeof value === "string" ? value : undefined;
}

export function objectIn(record: JsonObject, key: string): JsonObject | undefined {
  const value = Object.hasOwn(record, key) ? record[key] : undefined;
  return isJsonObject(value) ? value : undefined;
}

export function leftOver(record: JsonObject, taken: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(record).filter(([key]) => !taken.includes(key)));
}

/** The file's own name, without folders and the last ending. */
export function baseName(path: string): string {
  const name = path.split(/[\\/]/).at(-1) ?? path;
  return name.replace(/\.[^.]+$/, "") || "unnamed";
}

/** A record for detection. It may be cut off; then the plain text fields near its start stand for it. */
export function peek(text: string): JsonObject {
  try {
    const value: unknown = text.length < 65_536 ? JSON.parse(text) : undefined;
    if (isJsonObject(value)) return value;
  } catch {
    return peekFields(text);
  }
  return peekFields(text);
}

function peekFields(text: string): JsonObject {
  if (!text.trimStart().startsWith("{")) return {};
  const found = text.slice(0, 4096).matchAll(/"(\w+)"\s*:\s*("[^"\\]*"|[[{])/g);
  const fields = [...found].map(([, key = "", value = ""]): [string, JsonValue] => {
    if (value.startsWith('"')) return [key, value.slice(1, -1)];
    return [key, value === "{" ? {} : []];
  });
  return Object.fromEntries(fields.reverse());
}
