import { createHash } from "node:crypto";
import { isJsonObject, type JsonObject, type JsonValue, type Message } from "../../domain/index.ts";
import { wireFormats } from "../../index.ts";
import type { HostFormat } from "../host-history/host-format.ts";

/** A message of the AI SDK, of a model's prompt or of the caller's list. */
export interface SdkMessage {
  role: string;
  content: unknown;
  providerOptions?: unknown;
}

/** Marks a text that was a URL object. */
const urlField = "varve:url";
const codec = wireFormats["ai-sdk"];

export const sdkFormat: HostFormat<SdkMessage> = {
  identify: (message) => {
    const { role, content } = toJson(message) as JsonObject;
    return [role ?? "", ...identifyParts(content ?? "")];
  },
  read: (message) => codec.from(toJson(message)),
  write: (message) => codec.to(toUserMessage(message)).map((wire) => revive(wire) as SdkMessage),
  isRequest: ({ role }) => role === "user",
};

/** System messages between the others are sent as the user's, because providers accept them only at the start. */
function toUserMessage(message: Message): Message {
  return message.role === "system" ? { ...message, role: "user" } : message;
}

/** Text, calls, results and files; reasoning and the options of providers may be left out when a reply is sent back. */
function identifyParts(content: JsonValue): JsonValue[] {
  if (typeof content === "string") return content === "" ? [] : [["text", content]];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part): JsonValue[] => {
    if (!isJsonObject(part)) return [];
    switch (part.type) {
      case "text":
        return part.text === "" ? [] : [["text", part.text ?? ""]];
      case "tool-call":
      case "tool-result":
        return [[part.type, part.toolCallId ?? ""]];
      case "file":
      case "image":
        return [
          [
            "file",
            createHash("sha256")
              .update(JSON.stringify(part.data ?? part.image ?? ""))
              .digest("base64"),
          ],
        ];
      default:
        return [];
    }
  });
}

/** Converts a message to JSON: bytes become base64, a URL becomes a marked object, undefined fields are left out. */
function toJson(value: unknown): JsonValue {
  if (value instanceof URL) return { [urlField]: value.href };
  if (value instanceof Uint8Array)
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64");
  if (value instanceof ArrayBuffer) return Buffer.from(value).toString("base64");
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).filter(([, field]) => field !== undefined && typeof field !== "function");
    return Object.fromEntries(fields.map(([key, field]) => [key, toJson(field)]));
  }
  return typeof value === "bigint" ? String(value) : ((value ?? null) as JsonValue);
}

function revive(value: JsonValue): unknown {
  if (Array.isArray(value)) return value.map(revive);
  if (!isJsonObject(value)) return value;
  const url = value[urlField];
  if (typeof url === "string" && URL.canParse(url)) return new URL(url);
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, revive(field)]));
}
