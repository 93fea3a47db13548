import { isJsonObject, type JsonObject, type JsonValue } from "../domain/index.ts";

export function parseObject(text: string | Uint8Array): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(typeof text === "string" ? text : Buffer.from(text).toString("utf8"));
    return isJsonObject(value) ? value : undefined;
  } catch {
    // What is no JSON is somebody else's to refuse.
    return undefined;
  }
}

export function objectsOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function stringOf(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function numberOf(value: JsonValue | undefined): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

export function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** JSON with its keys in order and without marks for caches, which clients move from message to message. */
export function canonical(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value ?? null);
  const keys = Object.keys(value).filter((key) => key !== "cache_control" && value[key] !== undefined);
  return `{${keys
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`)
    .join(",")}}`;
}

/** Adds up the numbers of two objects of the same shape, such as two accounts of usage. */
export function added(a: JsonValue | undefined, b: JsonValue | undefined): JsonValue {
  if (typeof a === "number" && typeof b === "number") return a + b;
  if (!isJsonObject(a) || !isJsonObject(b)) return b ?? a ?? null;
  const sum: JsonObject = { ...a };
  for (const [key, value] of Object.entries(b)) sum[key] = added(a[key], value);
  return sum;
}
