import { fromAnthropic, getParts, isJsonObject, type JsonObject } from "../../domain/index.ts";
import { ContentIds } from "./ids.ts";
import type { ImportedSession, ReaderContext, ReaderEvent, RecordReader, SourceFormat } from "./reader.ts";
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

/** Claude Code's project logs: `<session>.jsonl`, and `<session>/subagents/agent-<id>.jsonl` for its sub-agents. */
export const claudeCode: SourceFormat = {
  name: "claude-code",
  layout: "lines",
  detect: (path, firstRecords) =>
    /[\\/]\.claude[\\/]projects[\\/].*\.jsonl$/.test(path) || firstRecords.map(peek).some(isClaudeCode),
  open: (context) => new ClaudeCodeReader(context),
};

function isClaudeCode(record: JsonObject): boolean {
  if (typeof record.type !== "string") return false;
  if (record.type === "summary") return typeof record.leafUuid === "string";
  if (record.type === "file-history-snapshot") return "snapshot" in record;
  return typeof record.sessionId === "string" && ("uuid" in record || "parentUuid" in record || "operation" in record);
}

/**
 * Beyond this many records without an id of their own, reading from the top is cheaper than remembering them. A turn
 * leaves a dozen of them, and a transcript is read after every turn.
 */
const hashesMax = 10_000;

class ClaudeCodeReader implements RecordReader {
  readonly read: (text: string) => ReaderEvent[];
  readonly #book: SessionTracker;
  readonly #times: RecordTimes;
  readonly #ids: ContentIds;
  /** The root of the side chain each record belongs to, for versions that did not name their sub-agents. */
  readonly #chains = new Map<string, string>();
  readonly #agentOfFile: string | undefined;
  #sessionId: string;
  #title: string | undefined;
  #tokensBefore: number | undefined;

  constructor(context: ReaderContext) {
    const state = isJsonObject(context.state) ? context.state : {};
    const name = baseName(context.path);
    this.#agentOfFile = /^agent-(.+)$/.exec(name)?.[1];
    const folder = /([^\\/]+)[\\/]subagents[\\/][^\\/]+$/.exec(context.path)?.[1];
    this.#sessionId = textField(state, "sessionId") ?? (this.#agentOfFile === undefined ? name : (folder ?? name));
    this.#title = textField(state, "title");
    this.#tokensBefore = typeof state.tokensBefore === "number" ? state.tokensBefore : undefined;
    this.#book = new SessionTracker(state.sessions);
    this.#times = new RecordTimes(context.fileTime, state.time);
    this.#ids = new ContentIds(objectIn(state, "hashes"));
    this.read = guardedRead((record) => this.#read(record));
  }

  state(): JsonObject | undefined {
    if (this.#chains.size > 0 || this.#ids.size > hashesMax) return undefined;
    return {
      sessionId: this.#sessionId,
      sessions: this.#book.state(),
      time: this.#times.last,
      hashes: this.#ids.state(),
      ...(this.#title === undefined ? {} : { title: this.#title }),
      ...(this.#tokensBefore === undefined ? {} : { tokensBefore: this.#tokensBefore }),
    };
  }

  #read({ value: record, exactText }: ParsedRecord): ReaderEvent[] {
    const type = textField(record, "type");
    if (type === undefined) throw new BadRecord("it has no type");
    const uuid = sourceId(record.uuid, "uuid");
    const parentUuid = sourceId(record.parentUuid, "parentUuid");
    const body = this.#bodyOf(type, record);
    this.#sessionId = sourceId(record.sessionId, "sessionId") ?? this.#sessionId;
    const { time, lost } = this.#times.at(record.timestamp);
    const session = this.#sessionOf(record, uuid, parentUuid, time);
    const announced = this.#book.announce(session);
    // A compact boundary starts a new chain on disk; its logical parent is what it really follows.
    const parent = parentUuid ?? sourceId(record.logicalParentUuid, "logicalParentUuid");
    const extra = {
      ...(body.type === "custom" ? {} : extraOf(record, session.sessionId, parent, body.type)),
      ...(lost === undefined ? {} : { timestamp: lost }),
      ...(exactText === undefined ? {} : { exactText }),
    };
    const entry = this.#book.entry(session.sessionId, body, {
      id: uuid ?? this.#ids.next(session.sessionId, type, record, record.timestamp),
      ...(uuid === undefined ? {} : { parentId: parent ?? null }),
      time,
      extra,
    });
    return [...announced, entry];
  }

  /**
   * The summary row after a boundary becomes the `compaction` entry: it holds the text, and the rows that follow point
   * at it. The boundary before it is kept as state, since it says nothing that a model reads.
   */
  #bodyOf(type: string, record: JsonObject) {
    if (type === "user" || type === "assistant") {
      const wire = objectIn(record, "message");
      if (wire === undefined) throw new BadRecord(`its type is ${type}, but it has no message`);
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
      const tokens = objectIn(record, "compactMetadata")?.preTokens;
      this.#tokensBefore = typeof tokens === "number" ? tokens : undefined;
    }
    const title = textField(record, "summary") ?? textField(record, "customTitle") ?? textField(record, "aiTitle");
    if (/^(summary|custom-title|ai-title)$/.test(type) && title !== undefined) this.#title = title;
    return {
      type: "custom",
      customType: `claude-code:${isBoundary ? "compact_boundary" : type}`,
      data: record,
    } as const;
  }

  #sessionOf(record: JsonObject, uuid: string | undefined, parent: string | undefined, time: number): ImportedSession {
    const started = record.timestamp === undefined ? {} : { startedAt: time };
    const cwd = textField(record, "cwd");
    const facts = { channel: "claude-code", ...started, ...(cwd === undefined ? {} : { cwd }) };
    const main = this.#sessionId;
    if (record.isSidechain !== true && this.#agentOfFile === undefined) {
      return { sessionId: main, ...facts, ...(this.#title === undefined ? {} : { title: this.#title }) };
    }
    const agent = sourceId(record.agentId, "agentId") ?? this.#agentOfFile;
    const name = agent === undefined ? `sidechain-${this.#chainOf(uuid, parent)}` : `agent-${agent}`;
    return { sessionId: `${main}.${name}`, parentSessionId: main, ...facts };
  }

  #chainOf(uuid: string | undefined, parent: string | undefined): string {
    const root = (parent === undefined ? undefined : this.#chains.get(parent)) ?? uuid ?? parent ?? "unknown";
    if (uuid !== undefined) this.#chains.set(uuid, root);
    return root;
  }
}

/** Every field of the line that the entry does not already say. */
function extraOf(record: JsonObject, sessionId: string, parent: string | undefined, bodyType: string): JsonObject {
  const taken = ["type", "uuid", "timestamp"];
  if (bodyType === "message") taken.push("message");
  if (record.sessionId === sessionId) taken.push("sessionId");
  if ((record.parentUuid ?? null) === (parent ?? null)) taken.push("parentUuid");
  return leftOver(record, taken);
}
