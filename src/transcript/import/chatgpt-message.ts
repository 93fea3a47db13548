import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Message,
  type Part,
  type Role,
} from "../../domain/index.ts";
import { objectIn, textField } from "./record.ts";

/** How far up a result looks for its call; a chain of results for one call is short. */
const ancestorsMax = 20;

/** A message of ChatGPT as Varve has it. `isRebuilt` says that the content is all in the parts. */
export function chatgptMessage(
  id: string,
  wire: JsonObject,
  mapping: JsonObject,
): { message: Message; isRebuilt: boolean } {
  const author = objectIn(wire, "author") ?? {};
  const content = objectIn(wire, "content") ?? {};
  const role = roleOf(author.role);
  const parts = partsOfContent(content);
  const model = textField(objectIn(wire, "metadata") ?? {}, "model_slug");
  const isRebuilt = isPlain(content);
  const spoken = { ...(role === "assistant" ? { provider: "openai" } : {}), ...(model === undefined ? {} : { model }) };
  if (role === "tool") {
    const name = textField(author, "name");
    const output = parts.length === 0 ? "" : parts;
    const callId = callBefore(id, mapping) ?? id;
    const result: Part = { type: "tool_result", callId, ...(name === undefined ? {} : { name }), output };
    return { message: { role, content: [result], ...spoken }, isRebuilt };
  }
  if (isCall(wire)) {
    const input = parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
    const call: Part = {
      type: "tool_call",
      callId: id,
      name: textField(wire, "recipient") ?? "",
      input,
      inputText: input,
    };
    return { message: { role, content: [call], ...spoken }, isRebuilt: false };
  }
  return { message: { role, content: parts, ...spoken }, isRebuilt };
}

function roleOf(role: JsonValue | undefined): Role {
  return role === "assistant" || role === "system" || role === "tool" ? role : "user";
}

/** What an assistant says to anyone but the reader is a call: to `python`, `browser`, `dalle.text2im`, a plug-in. */
function isCall(wire: JsonObject): boolean {
  const recipient = textField(wire, "recipient");
  return objectIn(wire, "author")?.role === "assistant" && recipient !== undefined && recipient !== "all";
}

function callBefore(id: string, mapping: JsonObject): string | undefined {
  let parent = textField(objectIn(mapping, id) ?? {}, "parent");
  for (let steps = 0; parent !== undefined && steps < ancestorsMax; steps += 1) {
    const node = objectIn(mapping, parent) ?? {};
    const wire = objectIn(node, "message");
    if (wire !== undefined && isCall(wire)) return parent;
    if (objectIn(wire ?? {}, "author")?.role === "user") return undefined;
    parent = textField(node, "parent");
  }
  return undefined;
}

function isPlain(content: JsonObject): boolean {
  return (
    content.content_type === "text" &&
    Object.keys(content).length === 2 &&
    Array.isArray(content.parts) &&
    content.parts.every((part) => typeof part === "string")
  );
}

function partsOfContent(content: JsonObject): Part[] {
  if (Array.isArray(content.parts)) return content.parts.flatMap(readPart);
  if (Array.isArray(content.thoughts)) return content.thoughts.flatMap(readThought);
  if (content.content_type === "reasoning_recap") return texts([content.content], "reasoning");
  const { text, result, content: inner, user_profile, user_instructions, model_set_context } = content;
  return texts([text, result, inner, user_profile, user_instructions, model_set_context], "text");
}

function readPart(part: JsonValue): Part[] {
  if (typeof part === "string") return [{ type: "text", text: part }];
  if (!isJsonObject(part)) return [];
  const asset = textField(part, "asset_pointer");
  if (asset !== undefined) {
    const source = { kind: "file_id", fileId: asset } as const;
    return [part.content_type === "image_asset_pointer" ? { type: "image", source } : { type: "file", source }];
  }
  return texts([part.text], "text");
}

function readThought(thought: JsonValue): Part[] {
  return isJsonObject(thought) ? texts([thought.summary, thought.content], "reasoning", "\n") : [];
}

/** The texts among some values, as a part each, or as one when something is to join them. */
function texts(values: (JsonValue | undefined)[], type: "text" | "reasoning", joiner?: string): Part[] {
  const found = values.filter((value): value is string => typeof value === "string" && value !== "");
  const joined = joiner === undefined || found.length === 0 ? found : [found.join(joiner)];
  return joined.map((text) => ({ type, text }));
}
