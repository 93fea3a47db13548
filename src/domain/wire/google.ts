import type { JsonObject, JsonValue } from "../json.ts";
import { getParts, type Message, type Part } from "../message.ts";
import { type BlockCodec, checkMessageObject, isHosted, readBlock, splitSegments, writeBlocks } from "./blocks.ts";
import { canVerifySignatures, finishMessage, writeMessage } from "./envelope.ts";
import {
  getArray,
  getObject,
  getString,
  omitUndefined,
  toInputObject,
  toJsonObject,
  toPlainText,
  toRole,
} from "./fields.ts";

/** Reads a `Content` of the Gemini API. One that contains only function responses gets the role `tool`. */
export function fromGoogle(wire: unknown): Message {
  const original = checkMessageObject("google", wire);
  const content = (getArray(original, "parts") ?? []).map((part) => readBlock(googleParts, part));
  const role = toRole(original.role);
  const draft: Message = { role: role === "user" && hasOnlyResults(content) ? "tool" : role, content };
  return finishMessage("google", draft, original, rebuild);
}

/** Writes a message as `Content`s. A `system` message belongs in the request's `systemInstruction`. */
export function toGoogle(message: Message): JsonObject[] {
  return writeMessage("google", message, rebuild);
}

function hasOnlyResults(content: Part[]): boolean {
  return content.length > 0 && content.every((part) => part.type === "tool_result" && !isHosted(part));
}

function rebuild(message: Message): JsonObject[] {
  const role = toWireRole(message.role);
  const parts = getParts(message);
  if (message.wire?.format === "google") return [{ role, parts: writeBlocks(googleParts, parts, true) }];
  const trusted = canVerifySignatures("google", message);
  const runs =
    role === "model"
      ? splitSegments(message).map((run) =>
          run.role === "tool" ? { role: "user", parts: run.results } : { role: toWireRole(run.role), parts: run.parts },
        )
      : [{ role, parts }];
  return runs
    .map((run): JsonObject => ({ role: run.role, parts: writeBlocks(googleParts, run.parts, trusted) }))
    .filter((run) => Array.isArray(run.parts) && run.parts.length > 0);
}

function toWireRole(role: Message["role"]): string {
  if (role === "assistant") return "model";
  return role === "system" ? "system" : "user";
}

const googleParts: BlockCodec = { format: "google", read: readPart, write: writePart };

function readPart(part: JsonObject): Part | undefined {
  const text = getString(part, "text");
  if (text !== undefined) {
    return part.thought === true
      ? omitUndefined({ type: "reasoning", text, signature: getString(part, "thoughtSignature") } as const)
      : { type: "text", text };
  }
  const call = getObject(part, "functionCall");
  if (call !== undefined) return readCall(call);
  const response = getObject(part, "functionResponse");
  if (response !== undefined) return readResponse(response);
  const code = getObject(part, "executableCode");
  if (code !== undefined) {
    return {
      type: "tool_call",
      callId: getString(code, "id") ?? "code_execution",
      name: "code_execution",
      input: code,
    };
  }
  const ran = getObject(part, "codeExecutionResult");
  if (ran !== undefined) return readCodeResult(ran);
  return readMedia(part);
}

/** Calls may have no id; then the name is used, and calls are matched with results by name and order. */
function readCall(call: JsonObject): Part | undefined {
  const name = getString(call, "name");
  if (name === undefined) return undefined;
  return { type: "tool_call", callId: getString(call, "id") ?? name, name, input: call.args ?? null };
}

function readResponse(response: JsonObject): Part | undefined {
  const name = getString(response, "name");
  const callId = getString(response, "id") ?? name;
  if (callId === undefined) return undefined;
  const body = getObject(response, "response") ?? {};
  const error = getString(body, "error");
  const output = error ?? getString(body, "output") ?? getString(body, "result") ?? JSON.stringify(body);
  return omitUndefined({
    type: "tool_result",
    callId,
    name,
    output,
    isError: error === undefined ? undefined : true,
  } as const);
}

function readCodeResult(ran: JsonObject): Part {
  const failed = ran.outcome !== undefined && ran.outcome !== "OUTCOME_OK";
  return omitUndefined({
    type: "tool_result",
    callId: getString(ran, "id") ?? "code_execution",
    name: "code_execution",
    output: getString(ran, "output") ?? "",
    isError: failed ? true : undefined,
  } as const);
}

function readMedia(part: JsonObject): Part | undefined {
  const inline = getObject(part, "inlineData");
  const data = inline === undefined ? undefined : getString(inline, "data");
  if (inline !== undefined && data !== undefined) {
    const mediaType = getString(inline, "mimeType");
    if (mediaType?.startsWith("image/")) return { type: "image", source: { kind: "base64", data }, mediaType };
    return omitUndefined({
      type: "file",
      source: { kind: "base64", data },
      mediaType,
      name: getString(inline, "displayName"),
    } as const);
  }
  const linked = getObject(part, "fileData");
  const url = linked === undefined ? undefined : getString(linked, "fileUri");
  if (linked === undefined || url === undefined) return undefined;
  const mediaType = getString(linked, "mimeType");
  if (mediaType?.startsWith("image/")) return { type: "image", source: { kind: "url", url }, mediaType };
  return omitUndefined({
    type: "file",
    source: { kind: "url", url },
    mediaType,
    name: getString(linked, "displayName"),
  } as const);
}

function writePart(part: Part, trusted: boolean): JsonValue | undefined {
  switch (part.type) {
    case "text":
      return { text: part.text };
    case "reasoning":
      if (!trusted || part.encrypted !== undefined) return undefined;
      return toJsonObject({ text: part.text, thought: true, thoughtSignature: part.signature });
    case "tool_call":
      return {
        functionCall: toJsonObject({
          id: toCallId(part.callId, part.name),
          name: part.name,
          args: toInputObject(part.input),
        }),
      };
    case "tool_result": {
      const name = part.name ?? part.callId;
      const response = { [part.isError === true ? "error" : "output"]: toPlainText(part.output) };
      return { functionResponse: toJsonObject({ id: toCallId(part.callId, name), name, response }) };
    }
    case "image":
    case "file":
      return writeMedia(part);
    case "compaction":
      return part.summary === undefined ? undefined : { text: part.summary };
    default:
      return undefined;
  }
}

function toCallId(callId: string, name: string): string | undefined {
  return callId === name ? undefined : callId;
}

function writeMedia(part: Part & { type: "image" | "file" }): JsonValue | undefined {
  const displayName = part.type === "file" ? part.name : undefined;
  const mimeType = part.mediaType ?? (part.type === "image" ? "image/png" : undefined);
  switch (part.source.kind) {
    case "base64":
      return { inlineData: toJsonObject({ mimeType, data: part.source.data, displayName }) };
    case "url":
      return { fileData: toJsonObject({ mimeType, fileUri: part.source.url, displayName }) };
    case "text":
      return { text: part.source.text };
    case "file_id":
      return undefined;
  }
}
