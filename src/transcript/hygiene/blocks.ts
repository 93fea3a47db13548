import { getParts, isHosted, isJsonObject, type MediaSource, type Message, type Part } from "../../domain/index.ts";
import { dropParts, type HygieneProvider, type RecordChange, withParts } from "./changes.ts";

/**
 * Drops blank parts, calls and reasoning outside assistant messages, and calls that cannot be answered: without input,
 * or of an aborted turn.
 */
export function dropEmptyBlocks(
  messages: readonly Message[],
  provider: HygieneProvider,
  record: RecordChange,
): Message[] {
  const outputs = messages.map((message) => cleanOutputs(message, provider, record));
  const nonBlank = dropParts(
    outputs,
    (part) => (isBlank(part, provider) ? `a blank ${part.type}` : undefined),
    "blank-block",
    record,
  );
  const placed = dropParts(
    nonBlank,
    (part, message) =>
      message.role !== "assistant" && (part.type === "tool_call" || part.type === "reasoning")
        ? `a ${part.type} in a ${message.role} message`
        : undefined,
    "misplaced-block",
    record,
  );
  const called = dropParts(
    placed,
    (part) =>
      part.type === "tool_call" && !isHosted(part) && isWithoutInput(part) ? `the call ${part.callId}` : undefined,
    "call-without-input",
    record,
  );
  const finished = dropParts(
    called,
    (part, message) =>
      part.type === "tool_call" && !isHosted(part) && isAborted(message) ? `the call ${part.callId}` : undefined,
    "aborted-call",
    record,
  );
  return finished.filter((message) => {
    const isEmpty = getParts(message).length === 0;
    if (isEmpty) record("blank-message", message, `a ${message.role} message without content`);
    return !isEmpty;
  });
}

/** A result must stay even when it is empty; only blank blocks inside it are dropped. */
function cleanOutputs(message: Message, provider: HygieneProvider, record: RecordChange): Message {
  if (typeof message.content === "string") return message;
  let isChanged = false;
  const parts = message.content.map((part): Part => {
    if (part.type !== "tool_result" || typeof part.output === "string" || isHosted(part)) return part;
    const output = part.output.filter((item) => !isBlank(item, provider));
    if (output.length === part.output.length && output.length > 0) return part;
    isChanged = true;
    if (output.length < part.output.length) record("blank-block", message, `in the result of ${part.callId}`);
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

/** Gemini signs empty texts too and requires them back. */
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
