import { type JsonObject, type JsonValue, jsonEqual } from "../json.ts";
import type { Part, WireFormat } from "../message.ts";
import { getParts, type Message } from "../message.ts";

/** Lists rebuilt fields that must be omitted, because the original does not have them or has another value. */
const omitKey = "varve:omit";
/** Varve's own keys share an object with the provider's fields, so provider fields with this prefix are escaped. */
const markPrefix = "varve:";
const escapedPrefix = "varve:key:";

/** Writes a message in a format from its typed fields only. */
export type Rebuild = (message: Message) => JsonObject[];

/**
 * Completes a message that was read from the wire: `wire` records the difference between the original and what
 * `rebuild` produces, so that both together always reproduce the original.
 */
export function finishMessage(format: WireFormat, draft: Message, original: JsonObject, rebuild: Rebuild): Message {
  if (!isSigned(draft)) {
    const plain = rebuild(draft);
    if (plain.length === 1 && jsonEqual(plain[0], original)) return draft;
  }
  const marked: Message = { ...draft, wire: { format, fields: draft.wire?.fields ?? {} } };
  const fields = { ...marked.wire?.fields, ...computeDifference(original, rebuild(marked)[0] ?? {}) };
  return { ...marked, wire: { format, fields } };
}

/** Writes a message: rebuilt from its typed fields, with the recorded original fields restored. */
export function writeMessage(format: WireFormat, message: Message, rebuild: Rebuild): JsonObject[] {
  const rebuilt = rebuild(message);
  const first = rebuilt[0];
  if (message.wire?.format !== format || rebuilt.length !== 1 || first === undefined) return rebuilt;
  return [restoreFields(first, message.wire.fields)];
}

function computeDifference(original: JsonObject, rebuilt: JsonObject): JsonObject {
  const kept = Object.entries(original)
    .filter(([key, value]) => !(Object.hasOwn(rebuilt, key) && jsonEqual(rebuilt[key], value)))
    .map(([key, value]): [string, JsonValue] => [key.startsWith(markPrefix) ? escapedPrefix + key : key, value]);
  const omitted = Object.keys(rebuilt).filter(
    (key) =>
      !Object.hasOwn(original, key) ||
      (isContent(key) && !isEmpty(rebuilt[key]) && !jsonEqual(rebuilt[key], original[key])),
  );
  return Object.fromEntries(omitted.length === 0 ? kept : [...kept, [omitKey, omitted]]);
}

function restoreFields(rebuilt: JsonObject, fields: JsonObject): JsonObject {
  const omit = fields[omitKey];
  const omitted = new Set(Array.isArray(omit) ? omit : []);
  const base = Object.entries(rebuilt).filter(([key]) => !omitted.has(key));
  const kept = Object.entries(fields)
    .filter(([key]) => !key.startsWith(markPrefix) || key.startsWith(escapedPrefix))
    .map(([key, value]): [string, JsonValue] => [
      key.startsWith(escapedPrefix) ? key.slice(escapedPrefix.length) : key,
      value,
    ])
    .filter(([key]) => !isContent(key) || omitted.has(key) || isEmpty(rebuilt[key]));
  return Object.fromEntries([...base, ...kept]);
}

/**
 * Unusual content (a number, `null`) is recorded like any other field, but applies only while there is no typed
 * content: it must not hide parts that were added later.
 */
function isContent(key: string): boolean {
  return key === "content" || key === "parts";
}

function isEmpty(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);
}

/** Signatures are valid only at the provider that made them, so a signed message must record its origin. */
function isSigned(message: Message): boolean {
  return getParts(message).some(isSignedPart);
}

function isSignedPart(part: Part): boolean {
  if (part.type === "reasoning") return part.signature !== undefined || part.encrypted !== undefined;
  return part.type === "compaction" && part.encrypted !== undefined;
}

/**
 * Whether the provider of a format can verify the signatures in a message. A pi message names the API it came through.
 * A message without an origin was created by the caller, who is trusted.
 */
export function canVerifySignatures(format: WireFormat, message: Message): boolean {
  if (message.wire === undefined) return true;
  if (message.wire.format === format) return true;
  if (message.wire.format !== "pi") return false;
  const api = message.wire.fields.api;
  if (format === "anthropic") return api === "anthropic-messages";
  return format === "google" && typeof api === "string" && api.startsWith("google");
}
