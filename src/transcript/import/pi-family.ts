import { type EntryBody, fromPi, isJsonObject, type JsonObject } from "../../domain/index.ts";
import { ContentIds } from "./ids.ts";
import type { ImportedSession, ReaderContext, ReaderEvent, RecordReader } from "./reader.ts";
import {
  BadRecord,
  baseName,
  guardedRead,
  leftOver,
  objectIn,
  type ParsedRecord,
  sourceId,
  textField,
} from "./record.ts";
import { SessionTracker } from "./session-tracker.ts";
import { RecordTimes } from "./time.ts";

/** What differs between the programs that write pi's session files. */
export interface PiDialect {
  name: "pi" | "openclaw";
  /** Facts about the session that the file's path or header holds. */
  describe(path: string): Partial<ImportedSession>;
}

/** Session files of pi, all versions: the first had no ids, the second brought them, the third renamed a role. */
export class PiReader implements RecordReader {
  readonly read: (text: string) => ReaderEvent[];
  readonly #dialect: PiDialect;
  readonly #path: string;
  readonly #book: SessionTracker;
  readonly #times: RecordTimes;
  readonly #ids = new ContentIds();
  /** The ids by line, for the first version's compactions, which name the line they keep. */
  readonly #idsByLine: (string | undefined)[] = [];
  #sessionId: string;

  constructor(dialect: PiDialect, context: ReaderContext) {
    const state = isJsonObject(context.state) ? context.state : {};
    this.#dialect = dialect;
    this.#path = context.path;
    // Files are named <time>_<id>; the id is the session's, for files whose header is lost.
    this.#sessionId = textField(state, "sessionId") ?? baseName(context.path).replace(/^.*_(?=[^_]+$)/, "");
    this.#book = new SessionTracker(state.sessions);
    this.#times = new RecordTimes(context.fileTime, state.time);
    this.read = guardedRead((record) => this.#read(record));
  }

  state(): JsonObject | undefined {
    if (this.#ids.size > 0) return undefined;
    return { sessionId: this.#sessionId, sessions: this.#book.state(), time: this.#times.last };
  }

  #read({ value: record, exactText }: ParsedRecord): ReaderEvent[] {
    const type = textField(record, "type");
    if (type === undefined) throw new BadRecord("it has no type");
    const exact: JsonObject = exactText === undefined ? {} : { exactText };
    if (type === "session") return this.#header(record, exact);
    const id = sourceId(record.id, "id");
    const parentId = sourceId(record.parentId, "parentId");
    const { time, lost } = this.#times.at(record.timestamp ?? objectIn(record, "message")?.timestamp);
    const body = this.#bodyOf(type, record, time);
    const extra: JsonObject = {
      ...(isWhole(body, record) ? {} : leftOver(record, takenBy[body.type] ?? [])),
      ...(lost === undefined || record.timestamp === undefined ? {} : { timestamp: lost }),
      ...exact,
    };
    const title = type === "session_info" ? textField(record, "name") : undefined;
    const announced = this.#announce(title === undefined ? {} : { title });
    const ownId = id ?? this.#ids.next(this.#sessionId, type, record.message ?? record, record.timestamp);
    this.#idsByLine.push(ownId);
    const parent = id === undefined ? {} : { parentId: parentId ?? null };
    return [...announced, this.#book.entry(this.#sessionId, body, { id: ownId, ...parent, time, extra })];
  }

  #header(record: JsonObject, exact: JsonObject): ReaderEvent[] {
    const id = sourceId(record.id, "id");
    if (id === undefined) throw new BadRecord("the session's header has no id");
    const { time, lost } = this.#times.at(record.timestamp);
    const cwd = textField(record, "cwd");
    const kept = { ...leftOver(record, ["type", "id", "timestamp", "cwd"]), ...exact };
    const meta = lost === undefined ? kept : { ...kept, timestamp: lost };
    this.#sessionId = id;
    this.#idsByLine.push(undefined);
    const events = this.#announce({
      ...(cwd === undefined ? {} : { cwd }),
      ...(record.timestamp === undefined ? {} : { startedAt: time }),
      ...(Object.keys(meta).length === 0 ? {} : { meta }),
    });
    // A header that is there twice says nothing new, which is still something to say.
    return events.length > 0 ? events : [{ kind: "session", session: { sessionId: id, channel: this.#dialect.name } }];
  }

  #announce(facts: Partial<ImportedSession>): ReaderEvent[] {
    const { meta, ...told } = this.#dialect.describe(this.#path);
    const allMeta = { ...meta, ...facts.meta };
    return this.#book.announce({
      sessionId: this.#sessionId,
      channel: this.#dialect.name,
      ...told,
      ...facts,
      ...(Object.keys(allMeta).length === 0 ? {} : { meta: allMeta }),
    });
  }

  #bodyOf(type: string, record: JsonObject, time: number): EntryBody {
    switch (type) {
      case "message":
        return this.#messageBody(record);
      case "custom_message": {
        const { customType = "", content = "", display = true } = record;
        const details = record.details === undefined ? {} : { details: record.details };
        const message = fromPi({ role: "custom", customType, content, display, ...details, timestamp: time });
        return customMessage(message, customType, display);
      }
      case "custom":
        return { type, customType: textField(record, "customType") ?? "", data: record.data ?? null };
      case "compaction": {
        const tokens = typeof record.tokensBefore === "number" ? { tokensBefore: record.tokensBefore } : {};
        return { type, summary: expectText(record, "summary"), firstKeptId: this.#firstKept(record), ...tokens };
      }
      case "branch_summary":
        return { type, summary: expectText(record, "summary"), fromId: textField(record, "fromId") ?? null };
      case "model_change": {
        const provider = textField(record, "provider");
        const model = expectText(record, "modelId");
        return provider === undefined ? { type, model } : { type, provider, model };
      }
      case "label":
        return { type, targetId: expectText(record, "targetId"), label: textField(record, "label") ?? null };
      default:
        return { type: "custom", customType: `${this.#dialect.name}:${type}`, data: record };
    }
  }

  #messageBody(record: JsonObject): EntryBody {
    const wire = objectIn(record, "message");
    if (wire === undefined) throw new BadRecord("its type is message, but it has no message");
    if (typeof wire.role !== "string") throw new BadRecord("its message has no role");
    // The person ran it with the wish that the model never sees it.
    if (wire.role === "bashExecution" && wire.excludeFromContext === true) {
      return { type: "custom", customType: `${this.#dialect.name}:bashExecution`, data: record };
    }
    if (wire.role === "custom" || wire.role === "hookMessage") {
      return customMessage(fromPi(wire), wire.customType ?? "", wire.display ?? true);
    }
    return { type: "message", message: fromPi(wire) };
  }

  #firstKept(record: JsonObject): string | null {
    const id = textField(record, "firstKeptEntryId");
    const line = record.firstKeptEntryIndex;
    return id ?? (typeof line === "number" ? this.#idsByLine[line] : undefined) ?? null;
  }
}

/** The fields of a line that its entry already says. */
const takenBy: Partial<Record<EntryBody["type"], string[]>> = {
  message: ["type", "id", "parentId", "timestamp", "message"],
  custom_message: ["type", "id", "parentId", "timestamp", "message", "customType", "content", "display", "details"],
  custom: ["type", "id", "parentId", "timestamp", "customType", "data"],
  compaction: ["type", "id", "parentId", "timestamp", "summary", "firstKeptEntryId", "tokensBefore"],
  branch_summary: ["type", "id", "parentId", "timestamp", "summary", "fromId"],
  model_change: ["type", "id", "parentId", "timestamp", "provider", "modelId"],
  label: ["type", "id", "parentId", "timestamp", "targetId", "label"],
};

function isWhole(body: EntryBody, record: JsonObject): boolean {
  return body.type === "custom" && body.data === record;
}

function customMessage(message: ReturnType<typeof fromPi>, customType: unknown, display: unknown): EntryBody {
  const name = typeof customType === "string" ? customType : "";
  return { type: "custom_message", customType: name, message, ...(display === false ? { hidden: true } : {}) };
}

function expectText(record: JsonObject, key: string): string {
  const text = textField(record, key);
  if (text === undefined) throw new BadRecord(`its ${key} is not a string`);
  return text;
}

/** Whether a record looks like a line of a pi session. */
export function isPiRecord(record: JsonObject): boolean {
  if (!("timestamp" in record)) return false;
  if (record.type === "session") return typeof record.id === "string" && ("cwd" in record || "version" in record);
  if (record.type !== "message") return false;
  return isJsonObject(record.message) && !("sessionId" in record);
}
