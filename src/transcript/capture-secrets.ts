import { findSecrets, type JsonObject, type JsonValue } from "../domain/index.ts";
import type { SecretCapture, SecretRow } from "../store/index.ts";

const depthMax = 200;

/**
 * Replaces the credentials in the strings of a value by placeholders, so that the log, its index, vectors, summaries,
 * memories, prompts and exports never hold them. With `seal` each one is kept aside, encrypted, for its owner.
 */
export function captureSecrets<T extends JsonObject>(
  value: T,
  capture: SecretCapture,
): { value: T; secrets: SecretRow[] } {
  const secrets = new Map<string, SecretRow>();
  const replace = (text: string): string => {
    const found = findSecrets(text);
    if (found.length === 0) return text;
    let clean = "";
    let last = 0;
    for (const { kind, start, end } of found) {
      clean += text.slice(last, start) + toPlaceholder(text.slice(start, end), kind, capture, secrets);
      last = end;
    }
    return clean + text.slice(last);
  };
  const visit = (one: JsonValue, depth: number): JsonValue => {
    if (typeof one === "string") return replace(one);
    if (one === null || typeof one !== "object" || depth > depthMax) return one;
    if (Array.isArray(one)) return one.map((item) => visit(item, depth + 1));
    return Object.fromEntries(Object.entries(one).map(([name, item]) => [name, visit(item, depth + 1)]));
  };
  return { value: visit(value, 0) as T, secrets: [...secrets.values()] };
}

function toPlaceholder(text: string, kind: string, capture: SecretCapture, secrets: Map<string, SecretRow>): string {
  if (capture.mode === "drop") return `[${kind} removed]`;
  const id = capture.identify(text);
  secrets.set(id, { id, kind, text });
  return `[${kind} ${id}]`;
}

const placeholder = /\[[A-Za-z ]{1,40} (sec_[0-9a-f]{16})\]/g;

/** The ids of the credentials that were taken out of a text. */
export function listPlaceholders(text: string): string[] {
  return [...text.matchAll(placeholder)].map(([, id = ""]) => id);
}
