import type { JsonObject } from "../json.ts";
import { getParts, type Message } from "../message.ts";
import type { Part } from "../part.ts";
import { anthropicBlocks } from "./anthropic-blocks.ts";
import { finishMessage, trustsSignatures, writeMessage } from "./envelope.ts";
import { expectObject, isHosted, readBlock, writeBlocks } from "./exact.ts";
import { splitSegments } from "./segments.ts";
import { arrayField, defined, json, objectField, roleNamed, stringField } from "./shared.ts";

/**
 * Reads a message of the Messages API, as it is sent or as it is answered. A user message of nothing but tool results
 * gets the role `tool`. The `id` is the answer's, which several stored messages may share, so it is no `Message.id`.
 */
export function fromAnthropic(wire: unknown): Message {
  const original = expectObject("anthropic", wire);
  const text = stringField(original, "content");
  const content = text ?? (arrayField(original, "content") ?? []).map((block) => readBlock(anthropicBlocks, block));
  const role = roleNamed(original.role);
  const draft: Message = defined({
    role: role === "user" && isResults(content) ? "tool" : role,
    content,
    model: stringField(original, "model"),
    usage: objectField(original, "usage"),
    stopReason: stringField(original, "stop_reason"),
  });
  return finishMessage("anthropic", draft, original, rebuild);
}

/** Writes a message for the Messages API. One with the role `system` belongs into the request's `system` field. */
export function toAnthropic(message: Message): JsonObject[] {
  return writeMessage("anthropic", message, rebuild);
}

function isResults(content: string | Part[]): boolean {
  return typeof content !== "string" && content.length > 0 && content.every((part) => part.type === "tool_result");
}

function rebuild(message: Message): JsonObject[] {
  const role = message.role === "tool" ? "user" : message.role;
  if (message.wire?.format === "anthropic") return [own(message, role)];
  if (typeof message.content === "string") return [{ role, content: message.content }];
  const trusted = trustsSignatures("anthropic", message);
  const answered = message.content.some((part) => part.type === "tool_result" && !isHosted(part));
  const runs =
    role === "assistant" && answered
      ? splitSegments(message).map((run) =>
          run.role === "tool" ? { role: "user", parts: run.results } : { role: run.role, parts: run.parts },
        )
      : [{ role, parts: message.content }];
  return runs
    .map((run): JsonObject => ({ role: run.role, content: writeBlocks(anthropicBlocks, run.parts, trusted) }))
    .filter((run) => Array.isArray(run.content) && run.content.length > 0);
}

function own(message: Message, role: string): JsonObject {
  const content = typeof message.content === "string" ? message.content : undefined;
  return json({
    role,
    content: content ?? writeBlocks(anthropicBlocks, getParts(message), true),
    model: message.model,
    usage: message.usage,
    stop_reason: message.stopReason,
  });
}
