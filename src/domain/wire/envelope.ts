import { type JsonObject, type JsonValue, jsonEqual } from "../json.ts";
import { getParts, type Message } from "../message.ts";
import type { Part, WireFormat } from "../part.ts";

/** Names the rebuilt fields that must not appear: the original has none, or another one that takes its place for good. */
const omitKey = "varve:omit";
/** Varve's own marks share the object with the provider's fields, so a provider's field that looks like one is renamed. */
const markPrefix = "varve:";
const escapedPrefix = "varve:key:";

/** Puts a message into a format's shape; fields that only the original knows are not its business. */
export type Rebuild = (message: Message) => JsonObject[];

/**
 * Completes a message that was read from the wire: whatever `rebuild` cannot make from the typed fields is noted in
 * `wire`. The note is the difference itself, so applying it to the rebuilt message gives the original, always.
 */
export function finishMessage(format: WireFormat, draft: Message, original: JsonObject, rebuild: Rebuild): Message {
  if (!isSigned(draft)) {
    const plain = rebuild(draft);
    if (plain.length === 1 && jsonEqual(plain[0], original)) return draft;
  }
  const marked: Message = { ...draft, wire: { format, fields: draft.wire?.fields ?? {} } };
  const fields = { ...marked.wire?.fields, ...difference(original, rebuild(marked)[0] ?? {}) };
  return { ...marked, wire: { format, fields } };
}

/** Writes a message: rebuilt from its typed fields, with the original's other fields put back. */
export function writeMessage(format: WireFormat, message: Message, rebuild: Rebuild): JsonObject[] {
  const rebuilt = rebuild(message);
  const first = rebuilt[0];
  if (message.wire?.format !== format || rebuilt.length !== 1 || first === undefined) return rebuilt;
  return [withFields(first, message.wire.fields)];
}

function difference(original: JsonObject, rebuilt: JsonObject): JsonObject {
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

function withFields(rebuilt: JsonObject, fields: JsonObject): JsonObject {
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
 * An odd content (a number, `null`) is noted like any other field, but only stands while there is no typed content:
 * parts that were put in later must not be hidden by it.
 */
function isContent(key: string): boolean {
  return key === "content" || key === "parts";
}

function isEmpty(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);
}

/** Signatures are only good at the provider that made them, so a message that has one must say where it came from. */
function isSigned(message: Message): boolean {
  return getParts(message).some(isSignedPart);
}

function isSignedPart(part: Part): boolean {
  if (part.type === "reasoning") return part.signature !== undefined || part.encrypted !== undefined;
  return part.type === "compaction" && part.encrypted !== undefined;
}

/**
 * Whether a format's provider will know the signatures in a message. A pi message names the API it came through;
 * a message without any origin was made by hand, and whoever made it knows.
 */
export function trustsSignatures(format: WireFormat, message: Message): boolean {
  if (message.wire === undefined) return true;
  if (message.wire.format === format) return true;
  if (message.wire.format !== "pi") return false;
  const api = message.wire.fields.api;
  if (format === "anthropic") return api === "anthropic-messages";
  return format === "google" && typeof api === "string" && api.startsWith("google");
}
