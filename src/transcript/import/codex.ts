import { type EntryBody, fromOpenaiResponses, isJsonObject, type JsonObject } from "../../domain/index.ts";
import { ContentIds } from "./ids.ts";
import type { ReaderContext, ReaderEvent, RecordReader, SourceFormat } from "./reader.ts";
import {
  BadRecord,
  baseName,
  guardedRead,
  leftOver,
  objectIn,
  type ParsedRecord,
  peek,
  sourceId,
  textField,
} from "./record.ts";
import { SessionTracker } from "./session-tracker.ts";
import { RecordTimes } from "./time.ts";

const wrapped: ReadonlySet<unknown> = new Set([
  "session_meta",
  "response_item",
  "event_msg",
  "turn_context",
  "compacted",
]);

/** Codex roll-outs: `rollout-<time>-<id>.jsonl`, with a payload in each line, or, before that, bare items. */
export const codex: SourceFormat = {
  name: "codex",
  layout: "lines",
  detect: (path, firstRecords) =>
    /(^|[\\/])rollout-[^\\/]*\.jsonl$/.test(path) ||
    firstRecords
      .map(peek)
      .some((record) => (wrapped.has(record.type) && "payload" in record) || record.record_type === "state"),
  open: (context) => new CodexReader(context),
};

class CodexReader implements RecordReader {
  readonly read: (text: string) => ReaderEvent[];
  readonly #book = new SessionTracker();
  readonly #ids = new ContentIds();
  readonly #times: RecordTimes;
  #sessionId: string;
  #hasHeader = false;

  constructor(context: ReaderContext) {
    const name = baseName(context.path);
    this.#sessionId = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.exec(name)?.[0] ?? name;
    this.#times = new RecordTimes(context.fileTime);
    this.read = guardedRead((record) => this.#read(record));
  }

  /** No line has an id, so that each is told from its like by counting from the top. */
  state(): undefined {
    return undefined;
  }

  #read({ value: record, exactText }: ParsedRecord): ReaderEvent[] {
    const { time, lost } = this.#times.at(record.timestamp);
    const kept = {
      ...(lost === undefined ? {} : { timestamp: lost }),
      ...(exactText === undefined ? {} : { exactText }),
    };
    const header = headerOf(record);
    // A forked session repeats the header it came from; the first one is the file's own.
    if (header !== undefined && !this.#hasHeader) return this.#header(header, kept);
    const type = textField(record, "type") ?? textField(record, "record_type");
    if (type === undefined) throw new BadRecord("it has neither a type nor a session's header");
    const body = bodyOf(type, record);
    const payload = objectIn(record, "payload") ?? record;
    const rest = body.type === "message" ? leftOver(record, payload === record ? Object.keys(record) : lineFields) : {};
    const summarised = body.type === "compaction" ? leftOver(payload, ["message"]) : {};
    const announced = this.#book.announce({ sessionId: this.#sessionId, channel: "codex" });
    const id = this.#ids.next(this.#sessionId, type, payload, record.timestamp);
    const extra = { ...rest, ...summarised, ...kept };
    return [...announced, this.#book.entry(this.#sessionId, body, { id, time, extra })];
  }

  #header(header: JsonObject, kept: JsonObject): ReaderEvent[] {
    const id = sourceId(header.id, "id");
    if (id === undefined) throw new BadRecord("the session's header has no id");
    this.#sessionId = id;
    this.#hasHeader = true;
    const { time } = this.#times.at(header.timestamp);
    const cwd = textField(header, "cwd");
    const parent = parentOf(header);
    return this.#book.announce({
      sessionId: id,
      channel: "codex",
      ...(parent === undefined ? {} : { parentSessionId: parent }),
      ...(cwd === undefined ? {} : { cwd }),
      ...(header.timestamp === undefined ? {} : { startedAt: time }),
      meta: { ...leftOver(header, ["id", "cwd"]), ...kept },
    });
  }
}

const lineFields = ["type", "payload", "timestamp"];

function headerOf(record: JsonObject): JsonObject | undefined {
  if (record.type === "session_meta") {
    const payload = objectIn(record, "payload");
    if (payload === undefined) throw new BadRecord("the session's header has no payload");
    return payload;
  }
  const isBare =
    record.type === undefined && record.record_type === undefined && "id" in record && "timestamp" in record;
  return isBare ? record : undefined;
}

/** A sub-agent's session names the thread that started it, deep inside the field that says where it came from. */
function parentOf(header: JsonObject): string | undefined {
  const spawn = objectIn(objectIn(objectIn(header, "source") ?? {}, "subagent") ?? {}, "thread_spawn");
  return spawn === undefined ? undefined : textField(spawn, "parent_thread_id");
}

function bodyOf(type: string, record: JsonObject): EntryBody {
  const custom: EntryBody = { type: "custom", customType: `codex:${type}`, data: record };
  const payload = record.payload;
  if (type === "compacted") {
    const summary = isJsonObject(payload) ? textField(payload, "message") : undefined;
    if (summary === undefined) throw new BadRecord("it is a compaction without a message");
    return { type: "compaction", summary, firstKeptId: null };
  }
  const item = type === "response_item" ? payload : wrapped.has(type) || "payload" in record ? undefined : record;
  if (type === "response_item" && !isJsonObject(item)) throw new BadRecord("it is a response item without a payload");
  if (!isJsonObject(item) || !isItem(item)) return custom;
  return { type: "message", message: fromOpenaiResponses(item) };
}

/** What the model said or was told. A ghost snapshot is the program's own note for undoing, among the items by accident. */
function isItem(item: JsonObject): boolean {
  const type = textField(item, "type");
  if (type === undefined) return false;
  return /^(message|reasoning|compaction|compaction_summary|item_reference)$|_(call|output|request|response|tools)$/.test(
    type,
  );
}
