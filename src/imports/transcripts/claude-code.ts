import { fromAnthropic, getParts, isJsonObject, type JsonObject, type JsonValue } from "../../domain/index.ts";
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

/** Claude Code's project logs: `<session>.jsonl`, and `<session>/subagents/agent-<id>.jsonl` for its sub-agents. */
export const claudeCode: SourceFormat = {
  name: "claude-code",
  layout: "lines",
  detect: (path, firstRecords) =>
    /[\\/]\.claude[\\/]projects[\\/].*\.jsonl$/.test(path) || firstRecords.map(parseLeniently).some(isClaudeCode),
  open: (context) => new ClaudeCodeReader(context),
  mayBeRecorded: true,
};

function isClaudeCode(record: JsonObject): boolean {
  if (typeof record.type !== "string") return false;
  if (record.type === "summary") return typeof record.leafUuid === "string";
  if (record.type === "file-history-snapshot") return "snapshot" in record;
  return typeof record.sessionId === "string" && ("uuid" in record || "parentUuid" in record || "operation" in record);
}

/**
 * With more records without an id than this, reading from the start is cheaper than storing their hashes. A turn adds
 * about a dozen, and a transcript is read after every turn.
 */
const hashesMax = 10_000;

class ClaudeCodeReader implements RecordReader {
  readonly read: (text: string) => ReaderEvent[];
  readonly #tracker: SessionTracker;
  readonly #times: RecordTimes;
  readonly #ids: ContentIds;
  /** The root of the side chain of each record, for versions that did not name their sub-agents. */
  readonly #chains = new Map<string, string>();
  readonly #fileAgent: string | undefined;
  #sessionId: string;
  /** Records without a session id, until the first record with one. */
  #held: ParsedRecord[] | undefined;
  #title: string | undefined;
  #tokensBefore: number | undefined;

  constructor(context: ReaderContext) {
    const state = isJsonObject(context.state) ? context.state : {};
    const name = getBaseName(context.path);
    this.#fileAgent = /^agent-(.+)$/.exec(name)?.[1];
    const folder = /(?<![^\\/])([^\\/]+)[\\/]subagents[\\/][^\\/]+$/.exec(context.path)?.[1];
    this.#sessionId = readText(state, "sessionId") ?? (this.#fileAgent === undefined ? name : (folder ?? name));
    this.#held = Array.isArray(state.held) ? readHeld(state.held) : context.state === undefined ? [] : undefined;
    this.#title = readText(state, "title");
    this.#tokensBefore = typeof state.tokensBefore === "number" ? state.tokensBefore : undefined;
    this.#tracker = new SessionTracker(state.sessions);
    this.#times = new RecordTimes(context.fileTime, state.time);
    this.#ids = new ContentIds(readObject(state, "hashes"));
    this.read = guardReader((record) => this.#readOrHold(record));
  }

  /** A record may come before the first one that names the session; the file's name is only a fallback. */
  #readOrHold(record: ParsedRecord): ReaderEvent[] {
    if (record.value.type === "summary" && typeof record.value.leafUuid === "string") return this.#readTitle(record);
    if (this.#held === undefined) return this.#read(record);
    if (isAnonymousState(record.value) && this.#fileAgent === undefined) {
      this.#held.push(record);
      return [{ kind: "held" }];
    }
    const sessionId = readId(record.value.sessionId, "sessionId");
    const events = this.#read(record);
    const announced = events.filter((event) => event.kind === "session");
    const held = this.finish(sessionId);
    return [...announced, ...held, ...events.filter((event) => event.kind !== "session")];
  }

  /** The records that no record with a session id followed. */
  finish(sessionId?: string): ReaderEvent[] {
    const held = this.#held ?? [];
    this.#held = undefined;
    if (sessionId !== undefined) this.#sessionId = sessionId;
    return held.flatMap((record) => this.#read(record));
  }

  state(): JsonObject | undefined {
    if (this.#chains.size > 0 || this.#ids.size > hashesMax) return undefined;
    return {
      sessionId: this.#sessionId,
      sessions: this.#tracker.state(),
      time: this.#times.last,
      hashes: this.#ids.state(),
      ...(this.#held === undefined ? {} : { held: this.#held.map(({ value }) => value) }),
      ...(this.#title === undefined ? {} : { title: this.#title }),
      ...(this.#tokensBefore === undefined ? {} : { tokensBefore: this.#tokensBefore }),
    };
  }

  #read({ value: record, exactText }: ParsedRecord): ReaderEvent[] {
    const type = readText(record, "type");
    if (type === undefined) throw new BadRecordError("it has no type");
    const uuid = readId(record.uuid, "uuid");
    const parentUuid = readId(record.parentUuid, "parentUuid");
    const body = this.#toEntryBody(type, record);
    this.#sessionId = readId(record.sessionId, "sessionId") ?? this.#sessionId;
    const { time, original } = this.#times.resolve(record.timestamp);
    const session = this.#resolveSession(record, uuid, parentUuid, time);
    const announced = this.#tracker.announce(session);
    // A compact boundary starts a new chain on disk; its logical parent is its real predecessor.
    const parent = parentUuid ?? readId(record.logicalParentUuid, "logicalParentUuid");
    const extra = {
      ...(body.type === "custom" ? {} : collectExtra(record, session.sessionId, parent, body.type)),
      ...(original === undefined ? {} : { timestamp: original }),
      ...(exactText === undefined ? {} : { exactText }),
    };
    const entry = this.#tracker.entry(session.sessionId, body, {
      id: uuid ?? this.#ids.next(session.sessionId, type, record, record.timestamp),
      ...(uuid === undefined ? {} : { parentId: parent ?? null }),
      time,
      extra,
    });
    return [...announced, entry];
  }

  /** A title names a message, often one of another session: Claude Code writes them into the file it has open. */
  #readTitle({ value: record }: ParsedRecord): ReaderEvent[] {
    const entryId = readId(record.leafUuid, "leafUuid") ?? "";
    const title = readText(record, "summary");
    if (title === undefined) throw new BadRecordError("its summary is not a string");
    const { time } = this.#times.resolve(record.timestamp);
    const id = this.#ids.next(entryId, "summary", record, record.timestamp);
    return [
      {
        kind: "title",
        entryId,
        title,
        entry: { type: "custom", customType: "claude-code:summary", data: record, id, time },
      },
    ];
  }

  /**
   * The summary row after a boundary becomes the `compaction` entry: it holds the text, and later rows have it as
   * parent. The boundary itself is stored as state, because no model reads it.
   */
  #toEntryBody(type: string, record: JsonObject) {
    if (type === "user" || type === "assistant") {
      const wire = readObject(record, "message");
      if (wire === undefined) throw new BadRecordError(`its type is ${type}, but it has no message`);
      const message = fromAnthropic(wire);
      if (record.isCompactSummary !== true) return { type: "message", message } as const;
      const summary = getParts(message)
        .map((part) => (part.type === "text" ? part.text : ""))
        .join("\n");
      const tokens = this.#tokensBefore === undefined ? {} : { tokensBefore: this.#tokensBefore };
      this.#tokensBefore = undefined;
      return { type: "compaction", summary, firstKeptId: null, ...tokens } as const;
    }
    const isBoundary = type === "system" && record.subtype === "compact_boundary";
    if (isBoundary) {
      const tokens = readObject(record, "compactMetadata")?.preTokens;
      this.#tokensBefore = typeof tokens === "number" ? tokens : undefined;
    }
    const title = readText(record, "summary") ?? readText(record, "customTitle") ?? readText(record, "aiTitle");
    if (/^(summary|custom-title|ai-title)$/.test(type) && title !== undefined) this.#title = title;
    return {
      type: "custom",
      customType: `claude-code:${isBoundary ? "compact_boundary" : type}`,
      data: record,
    } as const;
  }

  #resolveSession(
    record: JsonObject,
    uuid: string | undefined,
    parent: string | undefined,
    time: number,
  ): ImportedSession {
    const started = record.timestamp === undefined ? {} : { startedAt: time };
    const cwd = readText(record, "cwd");
    const facts = { channel: "claude-code", ...started, ...(cwd === undefined ? {} : { cwd }) };
    const main = this.#sessionId;
    if (record.isSidechain !== true && this.#fileAgent === undefined) {
      return { sessionId: main, ...facts, ...(this.#title === undefined ? {} : { title: this.#title }) };
    }
    const agent = readId(record.agentId, "agentId") ?? this.#fileAgent;
    const name = agent === undefined ? `sidechain-${this.#findChainRoot(uuid, parent)}` : `agent-${agent}`;
    return { sessionId: `${main}.${name}`, parentSessionId: main, ...facts };
  }

  #findChainRoot(uuid: string | undefined, parent: string | undefined): string {
    const root = (parent === undefined ? undefined : this.#chains.get(parent)) ?? uuid ?? parent ?? "unknown";
    if (uuid !== undefined) this.#chains.set(uuid, root);
    return root;
  }
}

/** A record that names no session and says nothing, such as a snapshot of files. */
function isAnonymousState({ type, sessionId, uuid, parentUuid }: JsonObject): boolean {
  const isMessage = type === "user" || type === "assistant";
  return typeof type === "string" && !isMessage && [sessionId, uuid, parentUuid].every((id) => id === undefined);
}

function readHeld(values: JsonValue[]): ParsedRecord[] {
  return values.filter(isJsonObject).map((value) => ({ value }));
}

/** The fields of the line that the entry does not already contain. */
function collectExtra(record: JsonObject, sessionId: string, parent: string | undefined, bodyType: string): JsonObject {
  const taken = ["type", "uuid", "timestamp"];
  if (bodyType === "message") taken.push("message");
  if (record.sessionId === sessionId) taken.push("sessionId");
  if ((record.parentUuid ?? null) === (parent ?? null)) taken.push("parentUuid");
  return omitFields(record, taken);
}
