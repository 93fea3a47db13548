import {
  fromAnthropic,
  getParts,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Message,
  type Part,
} from "../../domain/index.ts";
import type { ReaderContext, ReaderEvent, RecordReader, SourceFormat } from "./reader.ts";
import { BadRecordError, guardReader, omitFields, type ParsedRecord, readId, readText } from "./record.ts";
import { ContentIds, RecordTimes } from "./record-defaults.ts";
import { SessionTracker } from "./session-tracker.ts";

/** Claude.ai's export, `conversations.json`: an array of conversations with their messages in order. */
export const claudeAi: SourceFormat = {
  name: "claude-ai",
  layout: "array",
  detect: (_path, firstRecords) => /"chat_messages"\s*:\s*\[/.test(firstRecords.join("\n")),
  open: (context) => new ClaudeAiReader(context),
};

/** The parent of a first message, in exports that have parents. */
const noParent = "00000000-0000-4000-8000-000000000000";

class ClaudeAiReader implements RecordReader {
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
    const sessionId = readId(conversation.uuid, "uuid");
    if (sessionId === undefined) throw new BadRecordError("the conversation has no uuid");
    const messages = conversation.chat_messages;
    if (!Array.isArray(messages)) throw new BadRecordError("the conversation has no chat_messages");
    const tracker = new SessionTracker();
    const ids = new ContentIds();
    const times = new RecordTimes(this.#fileTime);
    const { time } = times.resolve(conversation.created_at);
    const name = readText(conversation, "name") ?? "";
    const exact: JsonObject = exactText === undefined ? {} : { exactText };
    const announced = tracker.announce({
      sessionId,
      channel: "claude-ai",
      ...(name === "" ? {} : { title: name }),
      ...(conversation.created_at === undefined ? {} : { startedAt: time }),
      meta: { ...omitFields(conversation, ["uuid", "name", "chat_messages"]), ...exact },
    });
    return [...announced, ...messages.map((message) => readMessage(message, sessionId, tracker, ids, times))];
  }
}

function readMessage(
  record: JsonValue,
  sessionId: string,
  tracker: SessionTracker,
  ids: ContentIds,
  times: RecordTimes,
): ReaderEvent {
  try {
    if (!isJsonObject(record)) throw new BadRecordError("a message is not an object");
    const uuid = readId(record.uuid, "message uuid");
    const parent = readId(record.parent_message_uuid, "parent_message_uuid");
    const { time, original } = times.resolve(record.created_at);
    const message = toMessage(record);
    const extra = { ...collectExtra(record, message), ...(original === undefined ? {} : { created_at: original }) };
    const id = uuid ?? ids.next(sessionId, readText(record, "sender") ?? "", record, record.created_at);
    const parentId = parent === undefined ? {} : { parentId: parent === noParent ? null : parent };
    return tracker.entry(sessionId, { type: "message", message }, { id, ...parentId, time, extra });
  } catch (error) {
    if (error instanceof BadRecordError) return { kind: "bad", reason: error.message };
    throw error;
  }
}

function toMessage(record: JsonObject): Message {
  const role = record.sender === "assistant" ? "assistant" : "user";
  const blocks = Array.isArray(record.content) && record.content.length > 0 ? record.content : undefined;
  const text = readText(record, "text");
  if (blocks === undefined && text === undefined) throw new BadRecordError("a message has neither content nor text");
  const message = fromAnthropic({ role, content: blocks ?? text ?? "" });
  const files = [...filterObjects(record.attachments), ...filterObjects(record.files)].flatMap(readFile);
  return files.length === 0 ? message : { ...message, content: [...getParts(message), ...files] };
}

function readFile(file: JsonObject): Part[] {
  const name = readText(file, "file_name");
  const named = name === undefined ? {} : { name };
  const text = readText(file, "extracted_content");
  const mediaType = readText(file, "file_type");
  if (text !== undefined) {
    return [{ type: "file", source: { kind: "text", text }, ...named, ...(mediaType ? { mediaType } : {}) }];
  }
  const fileId = readText(file, "file_uuid") ?? name;
  return fileId === undefined ? [] : [{ type: "file", source: { kind: "file_id", fileId }, ...named }];
}

/** The fields that the entry does not already contain: the message has the blocks and the text of attachments. */
function collectExtra(record: JsonObject, message: Message): JsonObject {
  const rest = omitFields(record, ["uuid", "sender", "created_at", "parent_message_uuid"]);
  const texts = getParts(message).flatMap((part) => (part.type === "text" ? [part.text] : []));
  const entries = Object.entries(rest).flatMap(([key, value]): [string, JsonValue][] => {
    if (key === "content") return Array.isArray(value) ? [] : [[key, value]];
    if (key === "text" && (value === texts.join("\n\n") || value === texts.join("\n") || value === "")) return [];
    if (key !== "attachments" && key !== "files") return [[key, value]];
    if (!Array.isArray(value)) return [[key, value]];
    const kept = value.map((file) => (isJsonObject(file) ? omitFields(file, ["extracted_content"]) : file));
    return kept.length === 0 ? [] : [[key, kept]];
  });
  const sender = record.sender === "human" || record.sender === "assistant" ? [] : [["sender", record.sender ?? null]];
  return Object.fromEntries([...entries, ...sender]);
}

function filterObjects(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
