import { type EntryBody, fromPi, isJsonObject, type JsonObject, type Message } from "../../domain/index.ts";
import type { ImportedSession, ReaderContext, ReaderEvent, RecordReader, SourceFormat } from "./reader.ts";
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

/** The differences between the programs that write pi's session files. */
interface PiDialect {
  name: "pi" | "openclaw";
  /** Facts about the session from the path of the file. */
  describe(path: string): Partial<ImportedSession>;
}

/** Reads session files of pi, all versions: version 1 had no ids, 2 added them, 3 renamed a role. */
class PiReader implements RecordReader {
  readonly read: (text: string) => ReaderEvent[];
  readonly #dialect: PiDialect;
  readonly #path: string;
  readonly #tracker: SessionTracker;
  readonly #times: RecordTimes;
  readonly #ids = new ContentIds();
  /** Ids by line number, because compactions of version 1 refer to lines. */
  readonly #idsByLine: (string | undefined)[] = [];
  /** The session id of the file; a reset begins another one in the same conversation. */
  #fileId: string;
  #sessionId: string;

  constructor(dialect: PiDialect, context: ReaderContext) {
    const state = isJsonObject(context.state) ? context.state : {};
    this.#dialect = dialect;
    this.#path = context.path;
    // Files are named <time>_<id>; used when the header is missing.
    this.#sessionId =
      readText(state, "sessionId") ?? (context.name ?? getBaseName(context.path)).replace(/^.*_(?=[^_]+$)/, "");
    this.#fileId = readText(state, "fileId") ?? this.#sessionId;
    this.#tracker = new SessionTracker(state.sessions);
    this.#times = new RecordTimes(context.fileTime, state.time);
    this.read = guardReader((record) => this.#read(record));
  }

  state(): JsonObject | undefined {
    if (this.#ids.size > 0) return undefined;
    return {
      sessionId: this.#sessionId,
      fileId: this.#fileId,
      sessions: this.#tracker.state(),
      time: this.#times.last,
    };
  }

  #read({ value: record, exactText }: ParsedRecord): ReaderEvent[] {
    const type = readText(record, "type");
    if (type === undefined) throw new BadRecordError("it has no type");
    const exact: JsonObject = exactText === undefined ? {} : { exactText };
    if (type === "session") return this.#header(record, exact);
    const id = readId(record.id, "id");
    const parentId = readId(record.parentId, "parentId");
    const { time, original } = this.#times.resolve(record.timestamp ?? readObject(record, "message")?.timestamp);
    const body = this.#toEntryBody(type, record, time);
    const extra: JsonObject = {
      ...(isWholeRecord(body, record) ? {} : omitFields(record, consumedFields[body.type] ?? [])),
      ...(original === undefined || record.timestamp === undefined ? {} : { timestamp: original }),
      ...exact,
    };
    const title = type === "session_info" ? readText(record, "name") : undefined;
    const announced = this.#announce(title === undefined ? {} : { title });
    const ownId = id ?? this.#ids.next(this.#sessionId, type, record.message ?? record, record.timestamp);
    this.#idsByLine.push(ownId);
    const parent = id === undefined ? {} : { parentId: parentId ?? null };
    const entry = this.#tracker.entry(this.#sessionId, body, { id: ownId, ...parent, time, extra });
    return [...announced, entry, ...(body.type === "reset" ? this.#continueAs(body.toSessionId, ownId, time) : [])];
  }

  /** What follows a reset is another session id of the same conversation. */
  #continueAs(sessionId: string, resetId: string, startedAt: number): ReaderEvent[] {
    const continues = { sessionId: this.#sessionId, firstId: this.#fileId, resetId };
    this.#sessionId = sessionId;
    return this.#announce({ startedAt, continues });
  }

  #header(record: JsonObject, exact: JsonObject): ReaderEvent[] {
    const id = readId(record.id, "id");
    if (id === undefined) throw new BadRecordError("the session header has no id");
    const { time, original } = this.#times.resolve(record.timestamp);
    const cwd = readText(record, "cwd");
    const kept = { ...omitFields(record, ["type", "id", "timestamp", "cwd"]), ...exact };
    const meta = original === undefined ? kept : { ...kept, timestamp: original };
    this.#sessionId = id;
    this.#fileId = id;
    this.#idsByLine.push(undefined);
    const events = this.#announce({
      ...(cwd === undefined ? {} : { cwd }),
      ...(record.timestamp === undefined ? {} : { startedAt: time }),
      ...(Object.keys(meta).length === 0 ? {} : { meta }),
    });
    // A repeated header changes nothing, but every record must yield an event.
    return events.length > 0 ? events : [{ kind: "session", session: { sessionId: id, channel: this.#dialect.name } }];
  }

  #announce(facts: Partial<ImportedSession>): ReaderEvent[] {
    const { meta, ...told } = this.#dialect.describe(this.#path);
    const allMeta = { ...meta, ...facts.meta };
    return this.#tracker.announce({
      sessionId: this.#sessionId,
      channel: this.#dialect.name,
      ...told,
      ...facts,
      ...(Object.keys(allMeta).length === 0 ? {} : { meta: allMeta }),
    });
  }

  #toEntryBody(type: string, record: JsonObject, time: number): EntryBody {
    switch (type) {
      case "message":
        return this.#messageBody(record, time);
      case "custom_message": {
        const { customType = "", content = "", display = true } = record;
        const details = record.details === undefined ? {} : { details: record.details };
        const message = fromPi({ role: "custom", customType, content, display, ...details, timestamp: time });
        return toCustomMessage(message, customType, display);
      }
      case "custom":
        return { type, customType: readText(record, "customType") ?? "", data: record.data ?? null };
      case "compaction": {
        const tokens = typeof record.tokensBefore === "number" ? { tokensBefore: record.tokensBefore } : {};
        return { type, summary: expectText(record, "summary"), firstKeptId: this.#firstKept(record), ...tokens };
      }
      case "branch_summary":
        return { type, summary: expectText(record, "summary"), fromId: readText(record, "fromId") ?? null };
      case "model_change": {
        const provider = readText(record, "provider");
        const model = expectText(record, "modelId");
        return provider === undefined ? { type, model } : { type, provider, model };
      }
      case "label":
        return { type, targetId: expectText(record, "targetId"), label: readText(record, "label") ?? null };
      case "reset": {
        const toSessionId = `${this.#fileId}.${readId(record.id, "id") ?? time}`;
        const reason = readText(record, "reason") ?? "reset";
        return { type, mode: "new", reason, fromSessionId: this.#sessionId, toSessionId };
      }
      default:
        return { type: "custom", customType: `${this.#dialect.name}:${type}`, data: record };
    }
  }

  #messageBody(record: JsonObject, time: number): EntryBody {
    const wire = readObject(record, "message");
    if (wire === undefined) throw new BadRecordError("its type is message, but it has no message");
    if (typeof wire.role !== "string") throw new BadRecordError("its message has no role");
    // A command that the person excluded from the model's context, or a record of a nested tool.
    if ((wire.role === "bashExecution" || wire.role === "custom") && wire.excludeFromContext === true) {
      return { type: "custom", customType: `${this.#dialect.name}:${wire.role}`, data: record };
    }
    if (wire.role === "custom" || wire.role === "hookMessage") {
      return toCustomMessage(keepOwnTime(fromPi(wire), time), wire.customType ?? "", wire.display ?? true);
    }
    return { type: "message", message: keepOwnTime(fromPi(wire), time) };
  }

  #firstKept(record: JsonObject): string | null {
    const id = readText(record, "firstKeptEntryId");
    const line = record.firstKeptEntryIndex;
    return id ?? (typeof line === "number" ? this.#idsByLine[line] : undefined) ?? null;
  }
}

/** The fields of a line that its entry already contains. */
const consumedFields: Partial<Record<EntryBody["type"], string[]>> = {
  message: ["type", "id", "parentId", "timestamp", "message"],
  custom_message: ["type", "id", "parentId", "timestamp", "message", "customType", "content", "display", "details"],
  custom: ["type", "id", "parentId", "timestamp", "customType", "data"],
  reset: ["type", "id", "parentId", "timestamp", "reason"],
  compaction: ["type", "id", "parentId", "timestamp", "summary", "firstKeptEntryId", "tokensBefore"],
  branch_summary: ["type", "id", "parentId", "timestamp", "summary", "fromId"],
  model_change: ["type", "id", "parentId", "timestamp", "provider", "modelId"],
  label: ["type", "id", "parentId", "timestamp", "targetId", "label"],
};

function isWholeRecord(body: EntryBody, record: JsonObject): boolean {
  return body.type === "custom" && body.data === record;
}

/** The time of an entry is that of its line. A message that names another time keeps it for its own format. */
function keepOwnTime(message: Message, time: number): Message {
  if (message.time === undefined || message.time === time) return message;
  return { ...message, wire: { format: "pi", fields: { ...message.wire?.fields, timestamp: message.time } } };
}

function toCustomMessage(message: ReturnType<typeof fromPi>, customType: unknown, display: unknown): EntryBody {
  const name = typeof customType === "string" ? customType : "";
  return { type: "custom_message", customType: name, message, ...(display === false ? { hidden: true } : {}) };
}

function expectText(record: JsonObject, key: string): string {
  const text = readText(record, key);
  if (text === undefined) throw new BadRecordError(`its ${key} is not a string`);
  return text;
}

/** Whether a record looks like a line of a pi session. */
function isPiRecord(record: JsonObject): boolean {
  if (!("timestamp" in record)) return false;
  if (record.type === "session") return typeof record.id === "string" && ("cwd" in record || "version" in record);
  if (record.type !== "message") return false;
  return isJsonObject(record.message) && !("sessionId" in record);
}

const piDialect: PiDialect = { name: "pi", describe: () => ({}) };

/** pi's session files: `~/.pi/agent/sessions/--<cwd>--/<time>_<id>.jsonl`. */
export const pi: SourceFormat = {
  name: "pi",
  layout: "lines",
  detect: (path, firstRecords) =>
    /[\\/]\.pi[\\/]agent[\\/]sessions[\\/]/.test(path) || firstRecords.map(parseLeniently).some(isPiRecord),
  open: (context) => new PiReader(piDialect, context),
};

/** The folder of session files, including the older names of the program. */
const sessionFile = /[\\/]\.(?:openclaw|clawdbot|moltbot)[^\\/]*[\\/]agents[\\/]([^\\/]+)[\\/]sessions[\\/]/;

const openclawDialect: PiDialect = {
  name: "openclaw",
  describe: (path) => {
    const agent = sessionFile.exec(path)?.[1];
    return agent === undefined ? {} : { meta: { agent } };
  },
};

/** OpenClaw's session files: pi's format in one folder per agent, with a few additional entry types. */
export const openclaw: SourceFormat = {
  name: "openclaw",
  layout: "lines",
  detect: (path, firstRecords) => {
    if (sessionFile.test(path)) return true;
    const records = firstRecords.map(parseLeniently);
    return records.some(isPiRecord) && records.some(isOpenclaw);
  },
  open: (context) => new PiReader(openclawDialect, context),
};

function isOpenclaw(record: JsonObject): boolean {
  if (record.type === "session") return /[\\/]\.openclaw[\\/]/.test(readText(record, "cwd") ?? "");
  return record.type === "custom" && (readText(record, "customType") ?? "").startsWith("openclaw");
}
