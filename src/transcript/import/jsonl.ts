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
import { ContentIds } from "./ids.ts";
import type { ImportedSession, ReaderContext, ReaderEvent, RecordReader, SourceFormat } from "./reader.ts";
import { BadRecord, baseName, guardedRead, leftOver, type ParsedRecord, peek, sourceId, textField } from "./record.ts";
import { SessionTracker } from "./session-tracker.ts";
import { RecordTimes } from "./time.ts";
import { readVarveEntry, readVarveHeader } from "./varve-export.ts";

/** Plain lines of `{role, content, timestamp}`, in whichever provider's shape, and what Varve itself exports. */
export const jsonl: SourceFormat = {
  name: "jsonl",
  layout: "lines",
  detect: (_path, firstRecords) =>
    firstRecords.map(peek).some((record) => record.type === "varve_session" || isMessage(record)),
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
  readonly #book: SessionTracker;
  readonly #times: RecordTimes;
  readonly #ids = new ContentIds();
  readonly #name: string;
  #header: JsonObject | undefined;
  /** Set behind a header of Varve's own. */
  #exported: ImportedSession | undefined;

  constructor(context: ReaderContext) {
    const state = isJsonObject(context.state) ? context.state : {};
    this.#name = baseName(context.path);
    this.#exported = isJsonObject(state.exported) ? readVarveHeader(state.exported) : undefined;
    this.#header = isJsonObject(state.exported) ? state.exported : undefined;
    this.#book = new SessionTracker(state.sessions);
    this.#times = new RecordTimes(context.fileTime, state.time);
    this.read = guardedRead((record) => this.#read(record));
  }

  state(): JsonObject | undefined {
    if (this.#ids.size > 0) return undefined;
    const exported: JsonObject = this.#header === undefined ? {} : { exported: this.#header };
    return { ...exported, sessions: this.#book.state(), time: this.#times.last };
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
    const session = firstOf(record, sessionKeys);
    const own = firstOf(record, idKeys);
    const parent = firstOf(record, parentKeys);
    const at = firstOf(record, timeKeys);
    const sessionId = sourceId(session?.value, "session id") ?? this.#name;
    const ownId = sourceId(own?.value, "id");
    const follows = parent === undefined ? {} : { parentId: sourceId(parent.value, parent.key) ?? null };
    const used = [session, own, parent, at].flatMap((field) => (field === undefined ? [] : [field.key]));
    const body = bodyOf(record, used);
    const { time, lost } = this.#times.at(at?.value);
    const extra: JsonObject = {
      ...(at === undefined || lost === undefined ? {} : { [at.key]: lost }),
      ...(exactText === undefined ? {} : { exactText }),
    };
    const announced = this.#book.announce({ sessionId, channel: "jsonl" });
    const id = ownId ?? this.#ids.next(sessionId, textField(record, "role") ?? body.type, record, at?.value);
    return [...announced, this.#book.entry(sessionId, body, { id, ...follows, time, extra })];
  }
}

/** The first of some names under which a line has a field. */
function firstOf(record: JsonObject, keys: readonly string[]): { key: string; value: JsonValue } | undefined {
  const key = keys.find((name) => Object.hasOwn(record, name));
  return key === undefined ? undefined : { key, value: record[key] ?? null };
}

function bodyOf(record: JsonObject, used: string[]): EntryBody {
  if (!("role" in record)) {
    return { type: "custom", customType: `jsonl:${textField(record, "type") ?? "record"}`, data: record };
  }
  if (typeof record.role !== "string") throw new BadRecord("its role is not a string");
  const { content } = record;
  if (content !== undefined && content !== null && typeof content !== "string" && !Array.isArray(content)) {
    throw new BadRecord("its content is neither text nor an array");
  }
  return { type: "message", message: readMessage(leftOver(record, used)) };
}

/** Each provider gives itself away by the names it uses; plain text is the same in all of them. */
function readMessage(wire: JsonObject): Message {
  const blocks = Array.isArray(wire.content) ? wire.content.filter(isJsonObject) : [];
  const types = new Set(blocks.map((block) => block.type));
  const uses = (...names: string[]) => names.some((name) => types.has(name));
  // A call by its `callId` is in the form of Varve's own messages, which need no reading.
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
