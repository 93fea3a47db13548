import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Message,
  type Part,
  type Role,
} from "../../domain/index.ts";
import type { ReaderContext, ReaderEvent, RecordReader, SourceFormat } from "./reader.ts";
import { BadRecordError, guardReader, omitFields, type ParsedRecord, readId, readObject, readText } from "./record.ts";
import { RecordTimes } from "./record-defaults.ts";
import { SessionTracker } from "./session-tracker.ts";

/** ChatGPT's export, `conversations.json`: an array of conversations, each a tree of nodes. */
export const chatgpt: SourceFormat = {
  name: "chatgpt",
  layout: "array",
  detect: (_path, firstRecords) => {
    const text = firstRecords.join("\n");
    return /"mapping"\s*:\s*\{/.test(text) && /"(current_node|conversation_id|create_time)"\s*:/.test(text);
  },
  open: (context) => new ChatgptReader(context),
};

class ChatgptReader implements RecordReader {
  readonly read: (text: string) => ReaderEvent[];
  readonly #fileTime: number;

  constructor(context: ReaderContext) {
    this.#fileTime = context.fileTime;
    this.read = guardReader((record) => this.#read(record));
  }

  /** An array cannot be continued: a newer export is another array, read from the start. */
  state(): undefined {
    return undefined;
  }

  #read({ value: conversation, exactText }: ParsedRecord): ReaderEvent[] {
    const sessionId = readId(conversation.conversation_id ?? conversation.id, "id");
    if (sessionId === undefined) throw new BadRecordError("the conversation has no id");
    const mapping = readObject(conversation, "mapping");
    if (mapping === undefined) throw new BadRecordError("the conversation has no mapping");
    const tracker = new SessionTracker();
    const times = new RecordTimes(this.#fileTime);
    const { time } = times.resolve(conversation.create_time);
    const title = readText(conversation, "title");
    const exact: JsonObject = exactText === undefined ? {} : { exactText };
    const announced = tracker.announce({
      sessionId,
      channel: "chatgpt",
      ...(title === undefined ? {} : { title }),
      ...(conversation.create_time === undefined ? {} : { startedAt: time }),
      meta: { ...omitFields(conversation, ["mapping", "title", "id"]), ...exact },
    });
    const nodes = sortNodes(mapping, readText(conversation, "current_node"));
    const entries = nodes.map(([id, node]) => readNode(id, node, mapping, sessionId, tracker, times));
    return [...announced, ...entries];
  }
}

function readNode(
  id: string,
  node: unknown,
  mapping: JsonObject,
  sessionId: string,
  tracker: SessionTracker,
  times: RecordTimes,
): ReaderEvent {
  if (!isJsonObject(node)) return { kind: "bad", reason: `node ${JSON.stringify(id)} is not an object` };
  if (id === "") return { kind: "bad", reason: "a node has an empty id" };
  const parentId = readText(node, "parent") ?? null;
  const wire = readObject(node, "message");
  const { time, original } = times.resolve(wire?.create_time ?? undefined);
  if (wire === undefined) {
    return tracker.entry(sessionId, { type: "custom", customType: "chatgpt:node", data: node }, { id, parentId, time });
  }
  const { message, isRebuilt } = convertMessage(id, wire, mapping);
  const taken = ["create_time", ...(isRebuilt ? ["content"] : []), ...(wire.id === id ? ["id"] : [])];
  const extra = { ...omitFields(wire, taken), ...(original === undefined ? {} : { create_time: original }) };
  return tracker.entry(sessionId, { type: "message", message }, { id, parentId, time, extra });
}

/**
 * Sorts parents before their children, and the branch that the person used last to the end, so that it becomes the
 * active one. Unreachable nodes (missing or cyclic parents) come first, in file order.
 */
function sortNodes(mapping: JsonObject, current: string | undefined): [string, unknown][] {
  const open = new Set<string>();
  for (let id = current; id !== undefined && !open.has(id); id = readText(readObject(mapping, id) ?? {}, "parent"))
    open.add(id);
  const children = new Map<string, string[]>();
  const roots: string[] = [];
  for (const id of Object.keys(mapping)) {
    const parent = readText(readObject(mapping, id) ?? {}, "parent");
    if (parent === undefined || !Object.hasOwn(mapping, parent)) roots.push(id);
    else {
      const siblings = children.get(parent);
      if (siblings === undefined) children.set(parent, [id]);
      else siblings.push(id);
    }
  }
  const openLast = (ids: string[]) => [...ids.filter((id) => !open.has(id)), ...ids.filter((id) => open.has(id))];
  const seen = new Set<string>();
  const stack = openLast(roots).reverse();
  for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
    if (seen.has(id)) continue;
    seen.add(id);
    stack.push(...openLast(children.get(id) ?? []).reverse());
  }
  const unreached = Object.keys(mapping).filter((id) => !seen.has(id));
  return [...unreached, ...seen].map((id) => [id, mapping[id]]);
}

/** How many ancestors are searched for the call of a result; such chains are short. */
const ancestorsMax = 20;

/** Converts a ChatGPT message. `isRebuilt` means that the parts alone reproduce the content. */
function convertMessage(id: string, wire: JsonObject, mapping: JsonObject): { message: Message; isRebuilt: boolean } {
  const author = readObject(wire, "author") ?? {};
  const content = readObject(wire, "content") ?? {};
  const role = toRole(author.role);
  const parts = readContent(content);
  const model = readText(readObject(wire, "metadata") ?? {}, "model_slug");
  const isRebuilt = isPlain(content);
  const origin = { ...(role === "assistant" ? { provider: "openai" } : {}), ...(model === undefined ? {} : { model }) };
  if (role === "tool") {
    const name = readText(author, "name");
    const output = parts.length === 0 ? "" : parts;
    const callId = findCallId(id, mapping) ?? id;
    const result: Part = { type: "tool_result", callId, ...(name === undefined ? {} : { name }), output };
    return { message: { role, content: [result], ...origin }, isRebuilt };
  }
  if (isCall(wire)) {
    const input = parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
    const call: Part = {
      type: "tool_call",
      callId: id,
      name: readText(wire, "recipient") ?? "",
      input,
      inputText: input,
    };
    return { message: { role, content: [call], ...origin }, isRebuilt: false };
  }
  return { message: { role, content: parts, ...origin }, isRebuilt };
}

function toRole(role: JsonValue | undefined): Role {
  return role === "assistant" || role === "system" || role === "tool" ? role : "user";
}

/**
 * A message that the assistant addresses to anyone but the user is a tool call: to `python`, `browser`, `dalle.text2im`
 * or a plug-in.
 */
function isCall(wire: JsonObject): boolean {
  const recipient = readText(wire, "recipient");
  return readObject(wire, "author")?.role === "assistant" && recipient !== undefined && recipient !== "all";
}

function findCallId(id: string, mapping: JsonObject): string | undefined {
  let parent = readText(readObject(mapping, id) ?? {}, "parent");
  for (let steps = 0; parent !== undefined && steps < ancestorsMax; steps += 1) {
    const node = readObject(mapping, parent) ?? {};
    const wire = readObject(node, "message");
    if (wire !== undefined && isCall(wire)) return parent;
    if (readObject(wire ?? {}, "author")?.role === "user") return undefined;
    parent = readText(node, "parent");
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

function readContent(content: JsonObject): Part[] {
  if (Array.isArray(content.parts)) return content.parts.flatMap(readPart);
  if (Array.isArray(content.thoughts)) return content.thoughts.flatMap(readThought);
  if (content.content_type === "reasoning_recap") return toParts([content.content], "reasoning");
  const { text, result, content: inner, user_profile, user_instructions, model_set_context } = content;
  return toParts([text, result, inner, user_profile, user_instructions, model_set_context], "text");
}

function readPart(part: JsonValue): Part[] {
  if (typeof part === "string") return [{ type: "text", text: part }];
  if (!isJsonObject(part)) return [];
  const asset = readText(part, "asset_pointer");
  if (asset !== undefined) {
    const source = { kind: "file_id", fileId: asset } as const;
    return [part.content_type === "image_asset_pointer" ? { type: "image", source } : { type: "file", source }];
  }
  return toParts([part.text], "text");
}

function readThought(thought: JsonValue): Part[] {
  return isJsonObject(thought) ? toParts([thought.summary, thought.content], "reasoning", "\n") : [];
}

/** The strings among some values: one part each, or a single part when `joiner` is given. */
function toParts(values: (JsonValue | undefined)[], type: "text" | "reasoning", joiner?: string): Part[] {
  const found = values.filter((value): value is string => typeof value === "string" && value !== "");
  const joined = joiner === undefined || found.length === 0 ? found : [found.join(joiner)];
  return joined.map((text) => ({ type, text }));
}
