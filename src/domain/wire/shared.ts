import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import type { Role } from "../message.ts";
import type { MediaSource, Part } from "../part.ts";

/** The same object without keys that are `undefined`, so that what is kept equals what is read back. */
export function defined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T;
}

/** An object literal with optional fields as a JSON object. */
export function json(fields: Record<string, JsonValue | undefined>): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined),
  );
}

export function stringField(object: JsonObject, key: string): string | undefined {
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  return typeof value === "string" ? value : undefined;
}

export function objectField(object: JsonObject, key: string): JsonObject | undefined {
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  return isJsonObject(value) ? value : undefined;
}

export function arrayField(object: JsonObject, key: string): JsonValue[] | undefined {
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  return Array.isArray(value) ? value : undefined;
}

/** The object without some of its keys. */
export function without(object: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));
}

/** Who speaks, under the names that the formats have for it. A name nobody knows is taken for the user's. */
export function roleNamed(name: unknown): Role {
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

/** Arguments that came as text. The text itself is kept only where the parsed value does not print back to it. */
export function inputFromText(text: string): { input: JsonValue; inputText?: string } {
  try {
    const input = JSON.parse(text) as JsonValue;
    return JSON.stringify(input) === text ? { input } : { input, inputText: text };
  } catch {
    return { input: text, inputText: text };
  }
}

export function inputAsText(call: { input: JsonValue; inputText?: string }): string {
  return call.inputText ?? JSON.stringify(call.input);
}

/** Arguments for providers that take an object and nothing else. */
export function inputAsObject(input: JsonValue): JsonObject {
  if (isJsonObject(input)) return input;
  return input === null || input === "" ? {} : { input };
}

/** What parts say in plain text; a picture or file is named, so that its absence can be seen. */
export function plainText(content: string | Part[]): string {
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

/** A `data:` address as bytes and a type; any other address stays an address. */
export function sourceFromUrl(url: string): { source: MediaSource; mediaType?: string } {
  const head = /^data:([^;,]*);base64,/.exec(url.slice(0, 256));
  if (head === null) return { source: { kind: "url", url } };
  const data = url.slice(head[0].length);
  return head[1] === undefined || head[1] === ""
    ? { source: { kind: "base64", data } }
    : { source: { kind: "base64", data }, mediaType: head[1] };
}

export function urlFromSource(source: MediaSource, mediaType: string | undefined): string | undefined {
  if (source.kind === "url") return source.url;
  if (source.kind === "base64") return `data:${mediaType ?? ""};base64,${source.data}`;
  return undefined;
}
