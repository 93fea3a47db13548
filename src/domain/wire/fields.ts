import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import type { MediaSource, Part, Role } from "../message.ts";

/** Removes keys that are `undefined`, so that the value equals its JSON round trip. */
export function omitUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T;
}

/** Builds a JSON object from fields, without those that are `undefined`. */
export function toJsonObject(fields: Record<string, JsonValue | undefined>): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined),
  );
}

export function getString(object: JsonObject, key: string): string | undefined {
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  return typeof value === "string" ? value : undefined;
}

export function getObject(object: JsonObject, key: string): JsonObject | undefined {
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  return isJsonObject(value) ? value : undefined;
}

export function getArray(object: JsonObject, key: string): JsonValue[] | undefined {
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  return Array.isArray(value) ? value : undefined;
}

export function omitKeys(object: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));
}

/** Maps a role name of any format; unknown names become `user`. */
export function toRole(name: unknown): Role {
  switch (name) {
    case "system":
    case "developer":
      return "system";
    case "assistant":
    case "model":
    case "ai":
    case "bot":
      return "assistant";
    case "tool":
    case "function":
    case "toolResult":
      return "tool";
    default:
      return "user";
  }
}

/** Parses arguments sent as text. The text is stored only when the parsed value does not print the same. */
export function parseInput(text: string): { input: JsonValue; inputText?: string } {
  try {
    const input = JSON.parse(text) as JsonValue;
    return JSON.stringify(input) === text ? { input } : { input, inputText: text };
  } catch {
    return { input: text, inputText: text };
  }
}

export function formatInput(call: { input: JsonValue; inputText?: string }): string {
  return call.inputText ?? JSON.stringify(call.input);
}

/** Converts arguments for providers that accept only objects. */
export function toInputObject(input: JsonValue): JsonObject {
  if (isJsonObject(input)) return input;
  return input === null || input === "" ? {} : { input };
}

/** The plain text of parts; an image or file is replaced by a placeholder, so that its absence is visible. */
export function toPlainText(content: string | Part[]): string {
  if (typeof content === "string") return content;
  const texts = content.map((part) => {
    if (part.type === "text") return part.text;
    if (part.type === "image") return `[image${part.mediaType === undefined ? "" : ` ${part.mediaType}`}]`;
    if (part.type === "file") return part.source.kind === "text" ? part.source.text : `[file ${part.name ?? ""}]`;
    if (part.type === "compaction") return part.summary ?? "";
    return "";
  });
  return texts.filter((text) => text !== "").join("\n");
}

/** Converts a `data:` URL to bytes and a media type; other URLs are kept. */
export function parseMediaUrl(url: string): { source: MediaSource; mediaType?: string } {
  const head = /^data:([^;,]*);base64,/.exec(url.slice(0, 256));
  if (head === null) return { source: { kind: "url", url } };
  const data = url.slice(head[0].length);
  return head[1] === undefined || head[1] === ""
    ? { source: { kind: "base64", data } }
    : { source: { kind: "base64", data }, mediaType: head[1] };
}

export function toMediaUrl(source: MediaSource, mediaType: string | undefined): string | undefined {
  if (source.kind === "url") return source.url;
  if (source.kind === "base64") return `data:${mediaType ?? ""};base64,${source.data}`;
  return undefined;
}
