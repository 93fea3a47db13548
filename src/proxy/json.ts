import { findShapeFault, isJsonObject, type JsonObject, type JsonValue } from "../domain/index.ts";

export function parseObject(text: string | Uint8Array): JsonObject | undefined {
  // A body that is too complex to be parsed is passed on as it is.
  if (typeof text !== "string" && findShapeFault(text) !== undefined) return undefined;
  try {
    const value: unknown = JSON.parse(typeof text === "string" ? text : Buffer.from(text).toString("utf8"));
    return isJsonObject(value) ? value : undefined;
  } catch {
    // The provider refuses what is not JSON.
    return undefined;
  }
}

export function readObjects(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function readString(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function readNumber(value: JsonValue | undefined): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

export function readObject(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Prints JSON with sorted keys and without `cache_control`, which clients move from message to message. */
export function printCanonical(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `[${value.map(printCanonical).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value ?? null);
  const keys = Object.keys(value).filter((key) => key !== "cache_control" && value[key] !== undefined);
  return `{${keys
    .sort()
    .map((key) => `${JSON.stringify(key)}:${printCanonical(value[key])}`)
    .join(",")}}`;
}

/** Adds the numbers of two objects of the same shape, such as token usage. */
export function addNumbers(a: JsonValue | undefined, b: JsonValue | undefined): JsonValue {
  if (typeof a === "number" && typeof b === "number") return a + b;
  if (!isJsonObject(a) || !isJsonObject(b)) return b ?? a ?? null;
  const sum: JsonObject = { ...a };
  for (const [key, value] of Object.entries(b)) sum[key] = addNumbers(a[key], value);
  return sum;
}
