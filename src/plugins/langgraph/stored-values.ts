import { createHash } from "node:crypto";
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/index.ts";
import { VarveError } from "../../index.ts";
import { isChatMessage, toDraft, toSerialised } from "./chat-messages.ts";
import type { Serde } from "./host-types.ts";

/**
 * A value as LangGraph serialised it. `text` is JSON; with `hasReferences`, messages in it are replaced by numbers of
 * entries. Other bytes are kept as base64.
 */
export type StoredValue = { type: string; text: string; hasReferences?: true } | { type: string; base64: string };

/** A message in a value: its entry id, and its serialised form. */
export interface FoundMessage {
  id: string;
  serialised: JsonObject;
}

/** The key of an object that stands for messages: `{"$varve": [12, 15]}` for a list, `{"$varve": 12}` for one. */
const referenceKey = "$varve";
const idLength = 32;

export async function dumpValue(serde: Serde, value: unknown): Promise<StoredValue> {
  const [type, bytes] = await serde.dumpsTyped(value);
  if (type === "json") {
    const text = Buffer.from(bytes).toString("utf8");
    if (Buffer.from(text).equals(bytes)) return { type, text };
  }
  return { type, base64: Buffer.from(bytes).toString("base64") };
}

export async function loadValue(serde: Serde, stored: StoredValue): Promise<unknown> {
  const bytes = "text" in stored ? Buffer.from(stored.text) : Buffer.from(stored.base64, "base64");
  return serde.loadsTyped(stored.type, new Uint8Array(bytes));
}

/** Reads a value that was stored as JSON, after its form was checked. */
export function readStoredValue(value: JsonValue | undefined): StoredValue {
  if (isJsonObject(value) && typeof value.type === "string") {
    if (typeof value.text === "string") return value as unknown as StoredValue;
    if (typeof value.base64 === "string") return value as unknown as StoredValue;
  }
  throw new VarveError("STORE_CORRUPT", "A value of a LangGraph checkpoint cannot be read.", {
    remedy: "Run `varve doctor`, or restore a backup.",
  });
}

/**
 * The messages of a value, each with its id. The id covers the content and, for equal messages without ids of their own,
 * which of them it is. Undefined when the value must be stored as it is.
 */
export function findMessages(stored: StoredValue): FoundMessage[] | undefined {
  if (!("text" in stored) || !stored.text.includes('"lc":1')) return undefined;
  const value = JSON.parse(stored.text) as JsonValue;
  // Only what can be put together again byte for byte is taken apart.
  if (JSON.stringify(value) !== stored.text || stored.text.includes(`"${referenceKey}"`)) return undefined;
  const found: FoundMessage[] = [];
  const times = new Map<string, number>();
  visit(value, (serialised) => {
    const text = JSON.stringify(serialised);
    if (JSON.stringify(toSerialised(toDraft(serialised))) !== text) return undefined;
    const hash = createHash("sha256").update(text).digest("hex").slice(0, idLength);
    const time = (times.get(hash) ?? 0) + 1;
    times.set(hash, time);
    found.push({ id: time === 1 ? hash : `${hash}.${time}`, serialised });
    return undefined;
  });
  return found.length === 0 ? undefined : found;
}

/** The value with the numbers of entries in place of its messages, in the order of `findMessages`. */
export function replaceMessages(
  stored: StoredValue,
  messages: readonly FoundMessage[],
  seqs: readonly number[],
): StoredValue {
  if (!("text" in stored)) return stored;
  let next = 0;
  const replaced = visit(JSON.parse(stored.text) as JsonValue, (serialised) => {
    if (messages[next]?.serialised === undefined || !isSame(messages[next]?.serialised, serialised)) return undefined;
    const seq = seqs[next];
    next += 1;
    return seq === undefined ? undefined : { [referenceKey]: seq };
  });
  return { type: stored.type, text: JSON.stringify(joinReferences(replaced)), hasReferences: true };
}

export function listReferences(stored: StoredValue): number[] {
  if (!("text" in stored) || stored.hasReferences !== true) return [];
  const seqs: number[] = [];
  restore(JSON.parse(stored.text) as JsonValue, (seq) => {
    seqs.push(seq);
    return null;
  });
  return seqs;
}

/** The value as it was before `replaceMessages`. */
export function restoreMessages(stored: StoredValue, find: (seq: number) => JsonObject): StoredValue {
  if (!("text" in stored) || stored.hasReferences !== true) return stored;
  return { type: stored.type, text: JSON.stringify(restore(JSON.parse(stored.text) as JsonValue, find)) };
}

/** Calls `replace` for each message, and returns a copy with the replacements. */
function visit(value: JsonValue, replace: (message: JsonObject) => JsonValue | undefined): JsonValue {
  if (Array.isArray(value)) return value.map((one) => visit(one, replace));
  if (!isJsonObject(value)) return value;
  if (isChatMessage(value)) return replace(value) ?? value;
  return mapFields(value, (one) => visit(one, replace));
}

function restore(value: JsonValue, find: (seq: number) => JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((one) => restore(one, find));
  if (!isJsonObject(value)) return value;
  const reference = value[referenceKey];
  if (typeof reference === "number") return find(reference);
  if (Array.isArray(reference)) return reference.map((seq) => find(Number(seq)));
  return mapFields(value, (one) => restore(one, find));
}

/** A list of messages is written as one reference. */
function joinReferences(value: JsonValue): JsonValue {
  if (Array.isArray(value)) {
    const seqs = value.map((one) => (isJsonObject(one) ? one[referenceKey] : undefined));
    if (value.length > 0 && seqs.every((seq) => typeof seq === "number")) return { [referenceKey]: seqs };
    return value.map(joinReferences);
  }
  return isJsonObject(value) ? mapFields(value, joinReferences) : value;
}

/** `Object.fromEntries` keeps a field that is named `__proto__`. */
function mapFields(value: JsonObject, change: (one: JsonValue) => JsonValue): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, change(one)]));
}

function isSame(one: JsonObject | undefined, other: JsonObject): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
