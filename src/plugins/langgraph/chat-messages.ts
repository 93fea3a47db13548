import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Message,
  type Part,
  type Role,
} from "../../domain/index.ts";
import type { Entry, EntryDraft } from "../../index.ts";

/** The field of an entry with the message as LangGraph serialised it. */
const field = "langgraph";

/** Whether a serialised value is a message of a conversation. A removal is an instruction, and has no content. */
export function isChatMessage(value: JsonValue): value is JsonObject {
  if (!isJsonObject(value) || value.lc !== 1 || value.type !== "constructor" || !Array.isArray(value.id)) return false;
  const name = value.id.at(-1);
  return typeof name === "string" && isJsonObject(value.kwargs) && roleOf(name, value.kwargs) !== undefined;
}

/**
 * A serialised message as an entry: a message that can be searched and summarised, and the serialised form. A text is
 * only in the message.
 */
export function toDraft(serialised: JsonObject): EntryDraft & { type: "message" } {
  const kwargs = serialised.kwargs as JsonObject;
  const message = toMessage(serialised.id as string[], kwargs);
  const text = typeof kwargs.content === "string" && kwargs.content === readText(message);
  const form = text ? { ...serialised, kwargs: { ...kwargs, content: null } } : serialised;
  return { type: "message", message, extra: { [field]: { form, text } } };
}

/** The serialised message of an entry that `toDraft` made. */
export function toSerialised(entry: Pick<Entry & { type: "message" }, "message" | "extra">): JsonObject | undefined {
  const own = entry.extra?.[field];
  if (!isJsonObject(own) || !isJsonObject(own.form)) return undefined;
  if (own.text !== true) return own.form;
  const kwargs = { ...(own.form.kwargs as JsonObject), content: readText(entry.message) };
  return { ...own.form, kwargs };
}

function roleOf(name: string, kwargs: JsonObject): Role | undefined {
  if (/^Human/.test(name)) return "user";
  if (/^AI/.test(name)) return "assistant";
  if (/^System/.test(name)) return "system";
  if (/^(?:Tool|Function)Message/.test(name)) return "tool";
  if (!/^Chat(?:Message|MessageChunk)$/.test(name)) return undefined;
  const role = kwargs.role;
  if (role === "assistant" || role === "system" || role === "tool") return role;
  return "user";
}

function toMessage(id: readonly string[], kwargs: JsonObject): Message {
  const role = roleOf(id.at(-1) ?? "", kwargs) ?? "user";
  const name = typeof kwargs.name === "string" && kwargs.name !== "" ? { name: kwargs.name } : {};
  const content = kwargs.content ?? "";
  if (role === "tool") {
    const callId = String(kwargs.tool_call_id ?? "");
    const output = typeof content === "string" ? content : readBlocks(content);
    const failed = kwargs.status === "error" ? { isError: true } : {};
    return { role, content: [{ type: "tool_result", callId, output, ...failed }], ...name };
  }
  const calls = role === "assistant" ? readCalls(kwargs.tool_calls) : [];
  if (typeof content === "string" && calls.length === 0) return { role, content, ...name };
  const parts: Part[] = typeof content === "string" ? [{ type: "text", text: content }] : readBlocks(content);
  return { role, content: [...parts.filter((part) => part.type !== "text" || part.text !== ""), ...calls], ...name };
}

function readText({ content }: Message): string {
  if (typeof content === "string") return content;
  for (const part of content) {
    if (part.type === "text") return part.text;
    if (part.type === "tool_result") return typeof part.output === "string" ? part.output : "";
  }
  return "";
}

function readCalls(calls: JsonValue | undefined): Part[] {
  if (!Array.isArray(calls)) return [];
  return calls.flatMap((call): Part[] =>
    isJsonObject(call)
      ? [{ type: "tool_call", callId: String(call.id ?? ""), name: String(call.name ?? ""), input: call.args ?? {} }]
      : [],
  );
}

/** The blocks that have text; the others are in the serialised form. */
function readBlocks(content: JsonValue): Part[] {
  if (!Array.isArray(content)) return [{ type: "text", text: JSON.stringify(content) }];
  return content.flatMap((block): Part[] => {
    if (typeof block === "string") return [{ type: "text", text: block }];
    if (!isJsonObject(block)) return [];
    if (block.type === "reasoning" || block.type === "thinking") {
      const text = block.reasoning ?? block.thinking;
      return typeof text === "string" ? [{ type: "reasoning", text }] : [];
    }
    if (typeof block.text === "string") return [{ type: "text", text: block.text }];
    const image = isJsonObject(block.image_url) ? block.image_url.url : block.image_url;
    if (typeof image === "string") return [{ type: "image", source: { kind: "url", url: image } }];
    return [];
  });
}
