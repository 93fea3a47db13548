import { isJsonObject, type JsonObject, type JsonValue, toVarveError } from "../../domain/index.ts";
import type { ReaderEvent } from "./reader.ts";

/** A parsed record. `exactText` is set when JavaScript cannot represent one of its numbers exactly. */
export interface ParsedRecord {
  value: JsonObject;
  exactText?: string;
}

/** The reason why a record cannot be read; reported with the record. */
export class BadRecordError extends Error {}

/** Values are processed recursively, so excessive nesting is rejected first. */
const depthMax = 500;

/** Turns any error into an event, so that one bad line never aborts an import. */
export function guardReader(read: (record: ParsedRecord) => ReaderEvent[]): (text: string) => ReaderEvent[] {
  return (text) => {
    try {
      const events = read(parseRecord(text));
      return events.length > 0 ? events : [{ kind: "bad", reason: "the record is empty" }];
    } catch (error) {
      const reason =
        error instanceof BadRecordError ? error.message : `it cannot be read: ${toVarveError(error).message}`;
      return [{ kind: "bad", reason }];
    }
  };
}

function parseRecord(text: string): ParsedRecord {
  const { depth, numbers } = scanRecord(text);
  if (depth > depthMax) throw new BadRecordError(`it is nested more than ${depthMax} levels deep`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new BadRecordError(`it is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isJsonObject(value)) throw new BadRecordError(`it is ${describeType(value)}, not an object`);
  return numbers.every(isExactNumber) ? { value } : { value, exactText: text };
}

function describeType(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}

/** Measures the nesting depth and finds numbers that may lose precision, without parsing. */
function scanRecord(text: string): { depth: number; numbers: string[] } {
  const suspicious = /\d{16}|\d[eE][+-]?\d/.test(text);
  const numbers: string[] = [];
  let depth = 0;
  let depthSeen = 0;
  for (let index = 0; index < text.length; index += 1) {
    const char = text.charCodeAt(index);
    if (char === 0x22) index = findStringEnd(text, index);
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

function findStringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === 0x5c) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}

function isExactNumber(number: string): boolean {
  const held = Number(number);
  if (!Number.isFinite(held)) return false;
  return /^\d+$/.test(number) ? BigInt(held) === BigInt(number) : /[eE]/.test(number) || String(held) === number;
}

/** Reads an id, or `undefined` when there is none. Numbers are rejected, because they may have lost digits. */
export function readId(value: JsonValue | undefined, name: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw new BadRecordError(`its ${name} is ${describeType(value)}, not a string`);
  if (value === "" || value.length > 512) throw new BadRecordError(`its ${name} is ${value.length} characters long`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: an id with a control character cannot be a key.
  if (!value.isWellFormed() || /[\u0000-\u001f\u007f]/.test(value)) {
    throw new BadRecordError(`its ${name} contains characters that are not allowed in an id`);
  }
  return value;
}

export function readText(record: JsonObject, key: string): string | undefined {
  const value = Object.hasOwn(record, key) ? record[key] : undefined;
  return typeof value === "string" ? value : undefined;
}

export function readObject(record: JsonObject, key: string): JsonObject | undefined {
  const value = Object.hasOwn(record, key) ? record[key] : undefined;
  return isJsonObject(value) ? value : undefined;
}

export function omitFields(record: JsonObject, taken: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(record).filter(([key]) => !taken.includes(key)));
}

/** The file name without folders and extension. */
export function getBaseName(path: string): string {
  const name = path.split(/[\\/]/).at(-1) ?? path;
  return name.replace(/\.[^.]+$/, "") || "unnamed";
}

/** Parses a record for format detection. From a truncated record only the simple fields near its start are read. */
export function parseLeniently(text: string): JsonObject {
  try {
    const value: unknown = text.length < 65_536 ? JSON.parse(text) : undefined;
    if (isJsonObject(value)) return value;
  } catch {
    return matchFields(text);
  }
  return matchFields(text);
}

function matchFields(text: string): JsonObject {
  if (!text.trimStart().startsWith("{")) return {};
  const found = text.slice(0, 4096).matchAll(/"(\w+)"\s*:\s*("[^"\\]*"|[[{])/g);
  const fields = [...found].map(([, key = "", value = ""]): [string, JsonValue] => {
    if (value.startsWith('"')) return [key, value.slice(1, -1)];
    return [key, value === "{" ? {} : []];
  });
  return Object.fromEntries(fields.reverse());
}
