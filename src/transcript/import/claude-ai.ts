import {
  fromAnthropic,
  getParts,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Message,
  type Part,
} from "../../domain/index.ts";
import { ContentIds } from "./ids.ts";
import type { ReaderContext, ReaderEvent, RecordReader, SourceFormat } from "./reader.ts";
import { BadRecord, guardedRead, leftOver, type ParsedRecord, sourceId, textField } from "./record.ts";
import { SessionTracker } from "./session-tracker.ts";
import { RecordTimes } from "./time.ts";

/** Claude.ai's export, `conversations.json`: an array of conversations with their messages in order. */
export const claudeAi: SourceFormat = {
  name: "claude-ai",
  layout: "array",
  detect: (_path, firstRecords) => /"chat_messages"\s*:\s*\[/.test(firstRecords.join("\n")),
  open: (context) => new ClaudeAiReader(context),
};

/** The parent of a first message, where the export names parents at all. */
const noParent = "00000000-0000-4000-8000-000000000000";

class ClaudeAiReader implements RecordReader {
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
    const sessionId = sourceId(conversation.uuid, "uuid");
    if (sessionId === undefined) throw new BadRecord("the conversation has no uuid");
    const messages = conversation.chat_messages;
    if (!Array.isArray(messages)) throw new BadRecord("the conversation has no chat_messages");
    const book = new SessionTracker();
    const ids = new ContentIds();
    const times = new RecordTimes(this.#fileTime);
    const { time } = times.at(conversation.created_at);
    const name = textField(conversation, "name") ?? "";
    const exact: JsonObject = exactText === undefined ? {} : { exactText };
    const announced = book.announce({
      sessionId,
      channel: "claude-ai",
      ...(name === "" ? {} : { title: name }),
      ...(conversation.created_at === undefined ? {} : { startedAt: time }),
      meta: { ...leftOver(conversation, ["uuid", "name", "chat_messages"]), ...exact },
    });
    return [...announced, ...messages.map((message) => readMessage(message, sessionId, book, ids, times))];
  }
}

function readMessage(
  record: JsonValue,
  sessionId: string,
  book: SessionTracker,
  ids: ContentIds,
  times: RecordTimes,
): ReaderEvent {
  try {
    if (!isJsonObject(record)) throw new BadRecord("a message is not an object");
    const uuid = sourceId(record.uuid, "message uuid");
    const parent = sourceId(record.parent_message_uuid, "parent_message_uuid");
    const { time, lost } = times.at(record.created_at);
    const message = messageOf(record);
    const extra = { ...extraOf(record, message), ...(lost === undefined ? {} : { created_at: lost }) };
    const id = uuid ?? ids.next(sessionId, textField(record, "sender") ?? "", record, record.created_at);
    const parentId = parent === undefined ? {} : { parentId: parent === noParent ? null : parent };
    return book.entry(sessionId, { type: "message", message }, { id, ...parentId, time, extra });
  } catch (error) {
    if (error instanceof BadRecord) return { kind: "bad", reason: error.message };
    throw error;
  }
}

function messageOf(record: JsonObject): Message {
  const role = record.sender === "assistant" ? "assistant" : "user";
  const blocks = Array.isArray(record.content) && record.content.length > 0 ? record.content : undefined;
  const text = textField(record, "text");
  if (blocks === undefined && text === undefined) throw new BadRecord("a message has neither content nor text");
  const message = fromAnthropic({ role, content: blocks ?? text ?? "" });
  const files = [...list(record.attachments), ...list(record.files)].flatMap(readFile);
  return files.length === 0 ? message : { ...message, content: [...getParts(message), ...files] };
}

function readFile(file: JsonObject): Part[] {
  const name = textField(file, "file_name");
  const named = name === undefined ? {} : { name };
  const text = textField(file, "extracted_content");
  const mediaType = textField(file, "file_type");
  if (text !== undefined) {
    return [{ type: "file", source: { kind: "text", text }, ...named, ...(mediaType ? { mediaType } : {}) }];
  }
  const fileId = textField(file, "file_uuid") ?? name;
  return fileId === undefined ? [] : [{ type: "file", source: { kind: "file_id", fileId }, ...named }];
}

/** What the entry does not say: the blocks are in the message, and so is an attachment's text. */
function extraOf(record: JsonObject, message: Message): JsonObject {
  const rest = leftOver(record, ["uuid", "sender", "created_at", "parent_message_uuid"]);
  const said = getParts(message).flatMap((part) => (part.type === "text" ? [part.text] : []));
  const entries = Object.entries(rest).flatMap(([key, value]): [string, JsonValue][] => {
    if (key === "content") return Array.isArray(value) ? [] : [[key, value]];
    if (key === "text" && (value === said.join("\n\n") || value === said.join("\n") || value === "")) return [];
    if (key !== "attachments" && key !== "files") return [[key, value]];
    if (!Array.isArray(value)) return [[key, value]];
    const kept = value.map((file) => (isJsonObject(file) ? leftOver(file, ["extracted_content"]) : file));
    return kept.length === 0 ? [] : [[key, kept]];
  });
  const sender = record.sender === "human" || record.sender === "assistant" ? [] : [["sender", record.sender ?? null]];
  return Object.fromEntries([...entries, ...sender]);
}

function list(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
