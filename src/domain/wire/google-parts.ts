import type { JsonObject, JsonValue } from "../json.ts";
import type { Part } from "../part.ts";
import type { BlockCodec } from "./exact.ts";
import { defined, inputAsObject, json, objectField, plainText, stringField } from "./shared.ts";

export const googleParts: BlockCodec = { format: "google", read, write };

function read(part: JsonObject): Part | undefined {
  const text = stringField(part, "text");
  if (text !== undefined) {
    return part.thought === true
      ? defined({ type: "reasoning", text, signature: stringField(part, "thoughtSignature") } as const)
      : { type: "text", text };
  }
  const call = objectField(part, "functionCall");
  if (call !== undefined) return readCall(call);
  const response = objectField(part, "functionResponse");
  if (response !== undefined) return readResponse(response);
  const code = objectField(part, "executableCode");
  if (code !== undefined) {
    return {
      type: "tool_call",
      callId: stringField(code, "id") ?? "code_execution",
      name: "code_execution",
      input: code,
    };
  }
  const ran = objectField(part, "codeExecutionResult");
  if (ran !== undefined) return readRan(ran);
  return readMedia(part);
}

/** Calls may come without an id; then the name stands in, and calls meet their results by name and order. */
function readCall(call: JsonObject): Part | undefined {
  const name = stringField(call, "name");
  if (name === undefined) return undefined;
  return { type: "tool_call", callId: stringField(call, "id") ?? name, name, input: call.args ?? null };
}

function readResponse(response: JsonObject): Part | undefined {
  const name = stringField(response, "name");
  const callId = stringField(response, "id") ?? name;
  if (callId === undefined) return undefined;
  const body = objectField(response, "response") ?? {};
  const error = stringField(body, "error");
  const output = error ?? stringField(body, "output") ?? stringField(body, "result") ?? JSON.stringify(body);
  return defined({
    type: "tool_result",
    callId,
    name,
    output,
    isError: error === undefined ? undefined : true,
  } as const);
}

function readRan(ran: JsonObject): Part {
  const failed = ran.outcome !== undefined && ran.outcome !== "OUTCOME_OK";
  return defined({
    type: "tool_result",
    callId: stringField(ran, "id") ?? "code_execution",
    name: "code_execution",
    output: stringField(ran, "output") ?? "",
    isError: failed ? true : undefined,
  } as const);
}

function readMedia(part: JsonObject): Part | undefined {
  const inline = objectField(part, "inlineData");
  const data = inline === undefined ? undefined : stringField(inline, "data");
  if (inline !== undefined && data !== undefined) {
    const mediaType = stringField(inline, "mimeType");
    if (mediaType?.startsWith("image/")) return { type: "image", source: { kind: "base64", data }, mediaType };
    return defined({
      type: "file",
      source: { kind: "base64", data },
      mediaType,
      name: stringField(inline, "displayName"),
    } as const);
  }
  const linked = objectField(part, "fileData");
  const url = linked === undefined ? undefined : stringField(linked, "fileUri");
  if (linked === undefined || url === undefined) return undefined;
  const mediaType = stringField(linked, "mimeType");
  if (mediaType?.startsWith("image/")) return { type: "image", source: { kind: "url", url }, mediaType };
  return defined({
    type: "file",
    source: { kind: "url", url },
    mediaType,
    name: stringField(linked, "displayName"),
  } as const);
}

function write(part: Part, trusted: boolean): JsonValue | undefined {
  switch (part.type) {
    case "text":
      return { text: part.text };
    case "reasoning":
      if (!trusted || part.encrypted !== undefined) return undefined;
      return json({ text: part.text, thought: true, thoughtSignature: part.signature });
    case "tool_call":
      return {
        functionCall: json({ id: idBeside(part.callId, part.name), name: part.name, args: inputAsObject(part.input) }),
      };
    case "tool_result": {
      const name = part.name ?? part.callId;
      const response = { [part.isError === true ? "error" : "output"]: plainText(part.output) };
      return { functionResponse: json({ id: idBeside(part.callId, name), name, response }) };
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

function idBeside(callId: string, name: string): string | undefined {
  return callId === name ? undefined : callId;
}

function writeMedia(part: Part & { type: "image" | "file" }): JsonValue | undefined {
  const displayName = part.type === "file" ? part.name : undefined;
  const mimeType = part.mediaType ?? (part.type === "image" ? "image/png" : undefined);
  switch (part.source.kind) {
    case "base64":
      return { inlineData: json({ mimeType, data: part.source.data, displayName }) };
    case "url":
      return { fileData: json({ mimeType, fileUri: part.source.url, displayName }) };
    case "text":
      return { text: part.source.text };
    case "file_id":
      return undefined;
  }
}
