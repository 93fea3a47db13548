import type { JsonObject } from "../json.ts";
import { getParts, type Message } from "../message.ts";
import type { Part } from "../part.ts";
import { finishMessage, trustsSignatures, writeMessage } from "./envelope.ts";
import { expectObject, isHosted, readBlock, writeBlocks } from "./exact.ts";
import { googleParts } from "./google-parts.ts";
import { splitSegments } from "./segments.ts";
import { arrayField, roleNamed } from "./shared.ts";

/** Reads a `Content` of the Gemini API. One of nothing but function responses gets the role `tool`. */
export function fromGoogle(wire: unknown): Message {
  const original = expectObject("google", wire);
  const content = (arrayField(original, "parts") ?? []).map((part) => readBlock(googleParts, part));
  const role = roleNamed(original.role);
  const draft: Message = { role: role === "user" && isResults(content) ? "tool" : role, content };
  return finishMessage("google", draft, original, rebuild);
}

/** Writes a message as `Content`s. One with the role `system` belongs into the request's `systemInstruction`. */
export function toGoogle(message: Message): JsonObject[] {
  return writeMessage("google", message, rebuild);
}

function isResults(content: Part[]): boolean {
  return content.length > 0 && content.every((part) => part.type === "tool_result" && !isHosted(part));
}

function rebuild(message: Message): JsonObject[] {
  const role = wireRole(message.role);
  const parts = getParts(message);
  if (message.wire?.format === "google") return [{ role, parts: writeBlocks(googleParts, parts, true) }];
  const trusted = trustsSignatures("google", message);
  const runs =
    role === "model"
      ? splitSegments(message).map((run) =>
          run.role === "tool" ? { role: "user", parts: run.results } : { role: wireRole(run.role), parts: run.parts },
        )
      : [{ role, parts }];
  return runs
    .map((run): JsonObject => ({ role: run.role, parts: writeBlocks(googleParts, run.parts, trusted) }))
    .filter((run) => Array.isArray(run.parts) && run.parts.length > 0);
}

function wireRole(role: Message["role"]): string {
  if (role === "assistant") return "model";
  return role === "system" ? "system" : "user";
}
