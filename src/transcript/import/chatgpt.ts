import { isJsonObject, type JsonObject } from "../../domain/index.ts";
import { chatgptMessage } from "./chatgpt-message.ts";
import type { ReaderContext, ReaderEvent, RecordReader, SourceFormat } from "./reader.ts";
import { BadRecord, guardedRead, leftOver, objectIn, type ParsedRecord, sourceId, textField } from "./record.ts";
import { SessionTracker } from "./session-tracker.ts";
import { RecordTimes } from "./time.ts";

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
    this.read = guardedRead((record) => this.#read(record));
  }

  /** An array is closed by its last byte: a newer export is another array, to be read from its top. */
  state(): undefined {
    return undefined;
  }

  #read({ value: conversation, exactText }: ParsedRecord): ReaderEvent[] {
    const sessionId = sourceId(conversation.conversation_id ?? conversation.id, "id");
    if (sessionId === undefined) throw new BadRecord("the conversation has no id");
    const mapping = objectIn(conversation, "mapping");
    if (mapping === undefined) throw new BadRecord("the conversation has no mapping");
    const book = new SessionTracker();
    const times = new RecordTimes(this.#fileTime);
    const { time } = times.at(conversation.create_time);
    const title = textField(conversation, "title");
    const exact: JsonObject = exactText === undefined ? {} : { exactText };
    const announced = book.announce({
      sessionId,
      channel: "chatgpt",
      ...(title === undefined ? {} : { title }),
      ...(conversation.create_time === undefined ? {} : { startedAt: time }),
      meta: { ...leftOver(conversation, ["mapping", "title", "id"]), ...exact },
    });
    const nodes = ordered(mapping, textField(conversation, "current_node"));
    const entries = nodes.map(([id, node]) => readNode(id, node, mapping, sessionId, book, times));
    return [...announced, ...entries];
  }
}

function readNode(
  id: string,
  node: unknown,
  mapping: JsonObject,
  sessionId: string,
  book: SessionTracker,
  times: RecordTimes,
): ReaderEvent {
  if (!isJsonObject(node)) return { kind: "bad", reason: `node ${JSON.stringify(id)} is not an object` };
  if (id === "") return { kind: "bad", reason: "a node has an empty id" };
  const parentId = textField(node, "parent") ?? null;
  const wire = objectIn(node, "message");
  const { time, lost } = times.at(wire?.create_time ?? undefined);
  if (wire === undefined) {
    return book.entry(sessionId, { type: "custom", customType: "chatgpt:node", data: node }, { id, parentId, time });
  }
  const { message, isRebuilt } = chatgptMessage(id, wire, mapping);
  const taken = ["create_time", ...(isRebuilt ? ["content"] : []), ...(wire.id === id ? ["id"] : [])];
  const extra = { ...leftOver(wire, taken), ...(lost === undefined ? {} : { create_time: lost }) };
  return book.entry(sessionId, { type: "message", message }, { id, parentId, time, extra });
}

/**
 * Parents before their children, and the branch that the person left open last of all, so that it becomes the active
 * one. Nodes that no root leads to, because their parents are missing or in a circle, follow in the file's order.
 */
function ordered(mapping: JsonObject, current: string | undefined): [string, unknown][] {
  const open = new Set<string>();
  for (let id = current; id !== undefined && !open.has(id); id = textField(objectIn(mapping, id) ?? {}, "parent"))
    open.add(id);
  const children = new Map<string, string[]>();
  const roots: string[] = [];
  for (const id of Object.keys(mapping)) {
    const parent = textField(objectIn(mapping, id) ?? {}, "parent");
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
