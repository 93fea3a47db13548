import {
  type EntryBody,
  fromAnthropic,
  fromGoogle,
  fromOpenaiChat,
  fromPi,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Message,
} from "../../domain/index.ts";
import type { ImportedSession, ReaderContext, ReaderEvent, RecordReader, SourceFormat } from "./reader.ts";
import {
  BadRecordError,
  getBaseName,
  guardReader,
  omitFields,
  type ParsedRecord,
  parseLeniently,
  readId,
  readText,
} from "./record.ts";
import { ContentIds, RecordTimes } from "./record-defaults.ts";
import { SessionTracker } from "./session-tracker.ts";
import { readVarveEntry, readVarveHeader } from "./varve-export.ts";

/** Plain lines of `{role, content, timestamp}` in the format of any provider, and Varve's own exports. */
export const jsonl: SourceFormat = {
  name: "jsonl",
  layout: "lines",
  detect: (_path, firstRecords) =>
    firstRecords.map(parseLeniently).some((record) => record.type === "varve_session" || isMessage(record)),
  open: (context) => new JsonlReader(context),
};

function isMessage(record: JsonObject): boolean {
  return typeof record.role === "string" && ["content", "parts", "tool_calls"].some((key) => key in record);
}

const timeKeys = ["timestamp", "time", "created_at", "createdAt", "create_time", "ts", "date"];
const sessionKeys = ["session_id", "sessionId", "conversation_id", "conversationId"];
const idKeys = ["id", "uuid"];
const parentKeys = ["parentId", "parent_id"];

class JsonlReader implements RecordReader {
  readonly read: (text: string) => ReaderEvent[];
  readonly #tracker: SessionTracker;
  readonly #times: RecordTimes;
  readonly #ids = new ContentIds();
  readonly #name: string;
  #header: JsonObject | undefined;
  /** Set after the header of a Varve export. */
  #exported: ImportedSession | undefined;

  constructor(context: ReaderContext) {
    const state = isJsonObject(context.state) ? context.state : {};
    this.#name = context.name ?? getBaseName(context.path);
    this.#exported = isJsonObject(state.exported) ? readVarveHeader(state.exported) : undefined;
    this.#header = isJsonObject(state.exported) ? state.exported : undefined;
    this.#tracker = new SessionTracker(state.sessions);
    this.#times = new RecordTimes(context.fileTime, state.time);
    this.read = guardReader((record) => this.#read(record));
  }

  state(): JsonObject | undefined {
    if (this.#ids.size > 0) return undefined;
    const exported: JsonObject = this.#header === undefined ? {} : { exported: this.#header };
    return { ...exported, sessions: this.#tracker.state(), time: this.#times.last };
  }

  #read(parsed: ParsedRecord): ReaderEvent[] {
    const record = parsed.value;
    if (record.type === "varve_session") {
      const session = readVarveHeader(record);
      this.#exported = session;
      this.#header = record;
      return [{ kind: "session", session }];
    }
    if (this.#exported !== undefined) return readVarveEntry(this.#exported, record);
    return this.#readPlain(parsed);
  }

  #readPlain({ value: record, exactText }: ParsedRecord): ReaderEvent[] {
    const session = findField(record, sessionKeys);
    const own = findField(record, idKeys);
    const parent = findField(record, parentKeys);
    const at = findField(record, timeKeys);
    const sessionId = readId(session?.value, "session id") ?? this.#name;
    const ownId = readId(own?.value, "id");
    const follows = parent === undefined ? {} : { parentId: readId(parent.value, parent.key) ?? null };
    const used = [session, own, parent, at].flatMap((field) => (field === undefined ? [] : [field.key]));
    const body = toEntryBody(record, used);
    const { time, original } = this.#times.resolve(at?.value);
    const extra: JsonObject = {
      ...(at === undefined || original === undefined ? {} : { [at.key]: original }),
      ...(exactText === undefined ? {} : { exactText }),
    };
    const announced = this.#tracker.announce({ sessionId, channel: "jsonl" });
    const id = ownId ?? this.#ids.next(sessionId, readText(record, "role") ?? body.type, record, at?.value);
    return [...announced, this.#tracker.entry(sessionId, body, { id, ...follows, time, extra })];
  }
}

/** The first of several alternative field names that the record has. */
function findField(record: JsonObject, keys: readonly string[]): { key: string; value: JsonValue } | undefined {
  const key = keys.find((name) => Object.hasOwn(record, name));
  return key === undefined ? undefined : { key, value: record[key] ?? null };
}

function toEntryBody(record: JsonObject, used: string[]): EntryBody {
  if (!("role" in record)) {
    return { type: "custom", customType: `jsonl:${readText(record, "type") ?? "record"}`, data: record };
  }
  if (typeof record.role !== "string") throw new BadRecordError("its role is not a string");
  const { content } = record;
  if (content !== undefined && content !== null && typeof content !== "string" && !Array.isArray(content)) {
    throw new BadRecordError("its content is neither text nor an array");
  }
  return { type: "message", message: readMessage(omitFields(record, used)) };
}

/** Providers are recognised by the field names they use; plain text is the same in all of them. */
function readMessage(wire: JsonObject): Message {
  const blocks = Array.isArray(wire.content) ? wire.content.filter(isJsonObject) : [];
  const types = new Set(blocks.map((block) => block.type));
  const uses = (...names: string[]) => names.some((name) => types.has(name));
  // A call with `callId` is already in Varve's own format.
  if (blocks.some((block) => /^tool_(?:call|result)$/.test(String(block.type)) && typeof block.callId === "string")) {
    return wire as unknown as Message;
  }
  if (Array.isArray(wire.parts)) return fromGoogle(wire);
  if (piRoles.has(wire.role) || uses("toolCall") || blocks.some((block) => "thinkingSignature" in block))
    return fromPi(wire);
  if (uses("tool_use", "tool_result", "thinking", "redacted_thinking", "document")) return fromAnthropic(wire);
  if (blocks.some((block) => block.type === "image" && "source" in block)) return fromAnthropic(wire);
  return fromOpenaiChat(wire);
}

const piRoles: ReadonlySet<unknown> = new Set([
  "toolResult",
  "bashExecution",
  "custom",
  "branchSummary",
  "compactionSummary",
]);
