import { type EntryBody, fromOpenaiResponses, isJsonObject, type JsonObject } from "../../domain/index.ts";
import type { ReaderContext, ReaderEvent, RecordReader, SourceFormat } from "./reader.ts";
import {
  BadRecordError,
  getBaseName,
  guardReader,
  omitFields,
  type ParsedRecord,
  parseLeniently,
  readId,
  readObject,
  readText,
} from "./record.ts";
import { ContentIds, RecordTimes } from "./record-defaults.ts";
import { SessionTracker } from "./session-tracker.ts";

const wrappedTypes: ReadonlySet<unknown> = new Set([
  "session_meta",
  "response_item",
  "event_msg",
  "turn_context",
  "compacted",
]);

/** Codex rollouts: `rollout-<time>-<id>.jsonl`, with a payload in each line; the first versions wrote bare items. */
export const codex: SourceFormat = {
  name: "codex",
  layout: "lines",
  detect: (path, firstRecords) =>
    /(^|[\\/])rollout-[^\\/]*\.jsonl$/.test(path) ||
    firstRecords
      .map(parseLeniently)
      .some((record) => (wrappedTypes.has(record.type) && "payload" in record) || record.record_type === "state"),
  open: (context) => new CodexReader(context),
};

class CodexReader implements RecordReader {
  readonly read: (text: string) => ReaderEvent[];
  readonly #tracker = new SessionTracker();
  readonly #ids = new ContentIds();
  readonly #times: RecordTimes;
  #sessionId: string;
  #hasHeader = false;

  constructor(context: ReaderContext) {
    const name = getBaseName(context.path);
    this.#sessionId = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.exec(name)?.[0] ?? name;
    this.#times = new RecordTimes(context.fileTime);
    this.read = guardReader((record) => this.#read(record));
  }

  /** Lines have no id: repeated ones are distinguished by counting from the start of the file. */
  state(): undefined {
    return undefined;
  }

  #read({ value: record, exactText }: ParsedRecord): ReaderEvent[] {
    const { time, original } = this.#times.resolve(record.timestamp);
    const kept = {
      ...(original === undefined ? {} : { timestamp: original }),
      ...(exactText === undefined ? {} : { exactText }),
    };
    const header = findHeader(record);
    // A forked session repeats the header of its origin; the first header is the file's own.
    if (header !== undefined && !this.#hasHeader) return this.#header(header, kept);
    const type = readText(record, "type") ?? readText(record, "record_type");
    if (type === undefined) throw new BadRecordError("it has neither a type nor a session header");
    const body = toEntryBody(type, record);
    const payload = readObject(record, "payload") ?? record;
    const rest =
      body.type === "message" ? omitFields(record, payload === record ? Object.keys(record) : lineFields) : {};
    const summarised = body.type === "compaction" ? omitFields(payload, ["message"]) : {};
    const announced = this.#tracker.announce({ sessionId: this.#sessionId, channel: "codex" });
    const id = this.#ids.next(this.#sessionId, type, payload, record.timestamp);
    const extra = { ...rest, ...summarised, ...kept };
    return [...announced, this.#tracker.entry(this.#sessionId, body, { id, time, extra })];
  }

  #header(header: JsonObject, kept: JsonObject): ReaderEvent[] {
    const id = readId(header.id, "id");
    if (id === undefined) throw new BadRecordError("the session header has no id");
    this.#sessionId = id;
    this.#hasHeader = true;
    const { time } = this.#times.resolve(header.timestamp);
    const cwd = readText(header, "cwd");
    const parent = findParentThread(header);
    return this.#tracker.announce({
      sessionId: id,
      channel: "codex",
      ...(parent === undefined ? {} : { parentSessionId: parent }),
      ...(cwd === undefined ? {} : { cwd }),
      ...(header.timestamp === undefined ? {} : { startedAt: time }),
      meta: { ...omitFields(header, ["id", "cwd"]), ...kept },
    });
  }
}

const lineFields = ["type", "payload", "timestamp"];

function findHeader(record: JsonObject): JsonObject | undefined {
  if (record.type === "session_meta") {
    const payload = readObject(record, "payload");
    if (payload === undefined) throw new BadRecordError("the session header has no payload");
    return payload;
  }
  const isBare =
    record.type === undefined && record.record_type === undefined && "id" in record && "timestamp" in record;
  return isBare ? record : undefined;
}

/** The header of a sub-agent names the thread that started it. */
function findParentThread(header: JsonObject): string | undefined {
  const spawn = readObject(readObject(readObject(header, "source") ?? {}, "subagent") ?? {}, "thread_spawn");
  return spawn === undefined ? undefined : readText(spawn, "parent_thread_id");
}

function toEntryBody(type: string, record: JsonObject): EntryBody {
  const custom: EntryBody = { type: "custom", customType: `codex:${type}`, data: record };
  const payload = record.payload;
  if (type === "compacted") {
    const summary = isJsonObject(payload) ? readText(payload, "message") : undefined;
    if (summary === undefined) throw new BadRecordError("it is a compaction without a message");
    return { type: "compaction", summary, firstKeptId: null };
  }
  const item = type === "response_item" ? payload : wrappedTypes.has(type) || "payload" in record ? undefined : record;
  if (type === "response_item" && !isJsonObject(item))
    throw new BadRecordError("it is a response item without a payload");
  if (!isJsonObject(item) || !isConversationItem(item)) return custom;
  return { type: "message", message: fromOpenaiResponses(item) };
}

/** Whether an item is part of the conversation. A ghost snapshot is the program's own undo data. */
function isConversationItem(item: JsonObject): boolean {
  const type = readText(item, "type");
  if (type === undefined) return false;
  return /^(message|reasoning|compaction|compaction_summary|item_reference)$|_(call|output|request|response|tools)$/.test(
    type,
  );
}
