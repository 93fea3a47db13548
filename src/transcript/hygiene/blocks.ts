import { getParts, isHosted, isJsonObject, type MediaSource, type Message, type Part } from "../../domain/index.ts";
import { dropParts, type HygieneProvider, type Note, withParts } from "./changes.ts";

/**
 * Drops what says nothing, what only a model can say where it is not a model that speaks, and calls that nobody can
 * answer: without input, or of a turn that was broken off.
 */
export function dropEmptyBlocks(messages: readonly Message[], provider: HygieneProvider, note: Note): Message[] {
  const outputs = messages.map((message) => cleanOutputs(message, provider, note));
  const spoken = dropParts(
    outputs,
    (part) => (isBlank(part, provider) ? `a blank ${part.type}` : undefined),
    "blank-block",
    note,
  );
  const placed = dropParts(
    spoken,
    (part, message) =>
      message.role !== "assistant" && (part.type === "tool_call" || part.type === "reasoning")
        ? `a ${part.type} in a ${message.role} message`
        : undefined,
    "misplaced-block",
    note,
  );
  const called = dropParts(
    placed,
    (part) =>
      part.type === "tool_call" && !isHosted(part) && isWithoutInput(part) ? `the call ${part.callId}` : undefined,
    "call-without-input",
    note,
  );
  const finished = dropParts(
    called,
    (part, message) =>
      part.type === "tool_call" && !isHosted(part) && isAborted(message) ? `the call ${part.callId}` : undefined,
    "aborted-call",
    note,
  );
  return finished.filter((message) => {
    const isEmpty = getParts(message).length === 0;
    if (isEmpty) note("blank-message", message, `a ${message.role} message without content`);
    return !isEmpty;
  });
}

/** A result must stay even when it is empty; only the blank blocks inside it go. */
function cleanOutputs(message: Message, provider: HygieneProvider, note: Note): Message {
  if (typeof message.content === "string") return message;
  let isChanged = false;
  const parts = message.content.map((part): Part => {
    if (part.type !== "tool_result" || typeof part.output === "string" || isHosted(part)) return part;
    const output = part.output.filter((item) => !isBlank(item, provider));
    if (output.length === part.output.length && output.length > 0) return part;
    isChanged = true;
    if (output.length < part.output.length) note("blank-block", message, `in the result of ${part.callId}`);
    const { raw: _stale, ...rest } = part;
    return { ...rest, output: output.length === 0 ? "" : output };
  });
  return isChanged ? withParts(message, parts) : message;
}

function isAborted(message: Message): boolean {
  return message.role === "assistant" && /^(aborted|error|cancelled)$/.test(message.stopReason ?? "");
}

function isWithoutInput(call: { name: string; input: unknown; inputText?: string }): boolean {
  const isEmpty = call.input === undefined || call.input === null || call.input === "";
  return call.name.trim() === "" || (isEmpty && (call.inputText ?? "").trim() === "");
}

export function isBlank(part: Part, provider: HygieneProvider): boolean {
  switch (part.type) {
    case "text":
      return part.text.trim() === "" && !(provider === "google" && isSignedText(part));
    case "reasoning":
      return part.text.trim() === "" && !part.signature && !part.encrypted;
    case "image":
    case "file":
      return isBlankSource(part.source);
    case "compaction":
      return (part.summary ?? "").trim() === "" && !part.encrypted;
    default:
      return false;
  }
}

/** Gemini puts signatures on empty texts too, and wants them back. */
function isSignedText(part: Part): boolean {
  return part.raw?.format === "google" && isJsonObject(part.raw.block) && "thoughtSignature" in part.raw.block;
}

function isBlankSource(source: MediaSource): boolean {
  switch (source.kind) {
    case "base64":
      return source.data === "";
    case "url":
      return source.url === "";
    case "text":
      return source.text.trim() === "";
    case "file_id":
      return source.fileId === "";
  }
}
