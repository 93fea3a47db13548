import { lstatSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { isJsonObject, type JsonObject, VarveError } from "../../../domain/index.ts";
import type { Store } from "../../../store/index.ts";
import { getEntryText, walkConversation } from "../../../transcript/index.ts";
import { ForeignDatabase } from "../foreign-database.ts";
import type { LegacySession } from "../legacy.ts";
import { normaliseOpenclawKey } from "../openclaw/session-keys.ts";
import type { FileRecord } from "../records.ts";
import type { TranscriptSource } from "../transcript-source.ts";

/** The name of lossless-claw's database. */
export const lcmStoreName = "lcm.db";

interface ConversationRow {
  conversation_id: number;
  session_id: string;
  session_key: string | null;
  active: number;
  archived_at: string | null;
  title: string | null;
  created_at: string;
}

interface MessageRow {
  message_id: number;
  seq: number;
  role: string;
  content: string;
  created_at: string;
  transcript_entry_id?: string | null;
}

/** A summary with what it was made from: ids of messages for a leaf, of summaries for a condensed one. */
export interface LcmSummary {
  id: string;
  kind: "leaf" | "condensed";
  depth: number;
  content: string;
  tokens: number;
  createdAt: number;
  messageIds: string[];
  summaryIds: string[];
}

/** The summaries of a conversation, and which of them are in its context. */
export interface LcmDag {
  agent: string;
  sessionId: string;
  summaries: LcmSummary[];
  context: string[];
}

/** Reads lossless-claw's database. Only reads; OpenClaw may be running. */
export class LcmStore {
  readonly #db: ForeignDatabase;
  readonly #file: string;
  readonly #messageColumns: string;
  /** The ids of messages that are stored under another one. */
  readonly #storedIds = new Map<number, string>();
  readonly #missingFiles = new Set<string>();

  /** Large files that are listed and cannot be read. */
  get missingFiles(): string[] {
    return [...this.#missingFiles];
  }

  constructor(file: string) {
    this.#file = file;
    this.#db = open(file);
    const columns = this.#db.prepare<[], { name: string }>("pragma table_info(messages)").all();
    this.#messageColumns = ["message_id", "seq", "role", "content", "created_at", "transcript_entry_id"]
      .filter((name) => columns.some((column) => column.name === name))
      .join(", ");
  }

  close(): void {
    this.#db.close();
  }

  /** The conversations: active ones first, so that they own their keys. */
  listSources(agent: string): TranscriptSource[] {
    return this.#listConversations().map((row) => new LcmSource(this, this.#file, row, agent));
  }

  listDags(agent: string): LcmDag[] {
    return this.#listConversations().map((row) => this.#readDag(row, nameConversation(row, agent).agent));
  }

  #listConversations(): ConversationRow[] {
    return this.#db
      .prepare<[], ConversationRow>("select * from conversations order by active desc, conversation_id", [
        "session_id",
        "created_at",
      ])
      .all();
  }

  /**
   * Finds the messages that are stored already under another id: older versions of lossless-claw did not record the ids
   * of OpenClaw's entries. Messages are compared in order, by role and text.
   */
  async matchStoredMessages(store: Store, agent: string): Promise<void> {
    for (const row of this.#listConversations()) {
      const place = await store.db
        .selectFrom("transcripts")
        .select(["conversation", "agent"])
        .where("agent", "=", nameConversation(row, agent).agent)
        .where("session_id", "=", row.session_id)
        .executeTakeFirst();
      if (place) await this.#matchConversation(store, place, row.conversation_id);
    }
  }

  async #matchConversation(store: Store, ref: { agent: string; conversation: number }, conversation: number) {
    const ids = new Map<string, string[]>();
    for await (const page of walkConversation(store, ref)) {
      for (const entry of page) {
        if (entry.type !== "message") continue;
        const key = `${entry.message.role}\n${getEntryText(entry).trim()}`;
        ids.set(key, [...(ids.get(key) ?? []), entry.id]);
      }
    }
    for (const row of this.readMessages(conversation, 0)) {
      const waiting = ids.get(`${row.role}\n${this.restoreFiles(row.content).trim()}`);
      const own = row.transcript_entry_id ?? `lcm-${row.message_id}`;
      const match = waiting?.includes(own) ? own : waiting?.[0];
      if (waiting === undefined || match === undefined) continue;
      waiting.splice(waiting.indexOf(match), 1);
      this.#storedIds.set(row.message_id, match);
    }
  }

  #getId(row: MessageRow): string {
    return this.#storedIds.get(row.message_id) ?? row.transcript_entry_id ?? `lcm-${row.message_id}`;
  }

  countMessages(conversation: number): number {
    const row = this.#db
      .prepare<[number], { count: number }>("select count(*) as count from messages where conversation_id = ?")
      .get(conversation);
    return row?.count ?? 0;
  }

  *readMessages(conversation: number, after: number): Generator<MessageRow & { record: JsonObject }> {
    const rows = this.#db
      .prepare<[number, number], MessageRow>(
        `select ${this.#messageColumns} from messages where conversation_id = ? order by seq limit -1 offset ?`,
        ["role", "content", "created_at"],
      )
      .iterate(conversation, after);
    for (const row of rows) yield { ...row, record: this.#toRecord(row) };
  }

  #toRecord(row: MessageRow): JsonObject {
    const parts = this.#db
      .prepare<[number], JsonObject>("select * from message_parts where message_id = ? order by ordinal")
      .all(row.message_id);
    const text = this.restoreFiles(row.content);
    const blocks = parts.flatMap((part) => this.#toBlock(part, row.role));
    const isPlain = blocks.every((block) => block.type === "text");
    return {
      id: this.#getId(row),
      role: row.role,
      content: isPlain || blocks.length === 0 ? text : blocks,
      timestamp: parseLcmTime(row.created_at),
    };
  }

  /** A part in Varve's own format. What lossless-claw keeps as an unknown block stays as it is. */
  #toBlock(part: JsonObject, role: string): JsonObject[] {
    const text = typeof part.text_content === "string" ? this.restoreFiles(part.text_content) : "";
    const callId = part.tool_call_id;
    if (part.part_type === "text") return text === "" ? [] : [{ type: "text", text }];
    if (part.part_type === "reasoning") return [{ type: "reasoning", text }];
    if (part.part_type === "tool" && typeof callId === "string") {
      if (role !== "assistant") {
        const output = part.tool_output ?? part.tool_error ?? part.text_content ?? "";
        return [{ type: "tool_result", callId, output: this.restoreFiles(String(output)) }];
      }
      const name = typeof part.tool_name === "string" ? part.tool_name : "tool";
      return [{ type: "tool_call", callId, name, input: parseInput(part.tool_input) }];
    }
    const kept = Object.fromEntries(Object.entries(part).filter(([, value]) => value !== null));
    return [{ type: "opaque", raw: { format: "lossless-claw", block: kept } }];
  }

  /** Puts the content of a large file back where lossless-claw wrote a reference to it. */
  restoreFiles(text: string): string {
    const reference = /^\[LCM (?:File|Tool Output|Raw Payload): (file_[0-9a-zA-Z]+)[^\]]*\][\s\S]*$/.exec(text);
    const id = reference?.[1];
    if (id === undefined) return text;
    const row = this.#db
      .prepare<[string], { storage_uri: string }>("select storage_uri from large_files where file_id = ?", [
        "storage_uri",
      ])
      .get(id);
    const path = row?.storage_uri.replace(/^file:\/\//, "");
    if (path !== undefined && isLargeFile(path, id)) return readFileSync(path, "utf8");
    this.#missingFiles.add(`${id}: ${path ?? "not listed"}`);
    return text;
  }

  #readDag({ conversation_id: conversation, session_id: sessionId }: ConversationRow, agent: string): LcmDag {
    const summaries = this.#db
      .prepare<[number], JsonObject>(
        "select * from summaries where conversation_id = ? order by depth, created_at, summary_id",
      )
      .all(conversation)
      .map((row) => this.#toSummary(row));
    const context = this.#db
      .prepare<[number], { summary_id: string }>(
        "select summary_id from context_items where conversation_id = ? and item_type = 'summary' order by ordinal",
      )
      .all(conversation)
      .map((row) => row.summary_id);
    return { agent, sessionId, summaries, context };
  }

  #toSummary(row: JsonObject): LcmSummary {
    const id = String(row.summary_id);
    const messages = this.#db
      .prepare<[string], MessageRow>(
        `select ${this.#messageColumns} from messages join summary_messages using (message_id)
         where summary_id = ? order by seq`,
      )
      .all(id);
    const sources = this.#db
      .prepare<[string], { parent_summary_id: string }>(
        "select parent_summary_id from summary_parents where summary_id = ? order by ordinal",
        ["parent_summary_id"],
      )
      .all(id);
    return {
      id,
      kind: row.kind === "condensed" ? "condensed" : "leaf",
      depth: Number(row.depth),
      content: String(row.content),
      tokens: Number(row.token_count),
      createdAt: parseLcmTime(String(row.created_at)),
      messageIds: messages.map((message) => this.#getId(message)),
      summaryIds: sources.map((source) => source.parent_summary_id),
    };
  }
}

/**
 * Whether a path is a large file of lossless-claw, which names them by their ids. A database from somewhere else must not
 * make the import read any other file of this machine.
 */
function isLargeFile(path: string, id: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true && basename(path).split(".")[0] === id;
}

/** The messages of one conversation, each as a record in Varve's own format. */
class LcmSource implements TranscriptSource {
  readonly path: string;
  readonly agent: string;
  readonly sessions: ReadonlyMap<string, LegacySession>;
  readonly #store: LcmStore;
  readonly #row: ConversationRow;

  constructor(store: LcmStore, file: string, row: ConversationRow, agent: string) {
    const named = nameConversation(row, agent);
    const isArchived = row.active === 0 || row.archived_at !== null;
    this.#store = store;
    this.#row = row;
    this.path = `${file}#${row.conversation_id}`;
    this.agent = named.agent;
    const session: LegacySession = {
      key: named.key,
      agent: named.agent,
      sessionId: row.session_id,
      fields: row.title === null ? {} : { displayName: row.title },
      ...(isArchived ? { archived: { reason: "archived", at: parseLcmTime(row.archived_at ?? row.created_at) } } : {}),
    };
    this.sessions = new Map([[row.session_id, session]]);
  }

  measure(): { size: number; mtimeMs: number } {
    return { size: this.#store.countMessages(this.#row.conversation_id), mtimeMs: parseLcmTime(this.#row.created_at) };
  }

  async *read(from: { record: number; end: number }, signal?: AbortSignal): AsyncGenerator<FileRecord> {
    let number = from.record;
    for (const { record } of this.#store.readMessages(this.#row.conversation_id, from.end)) {
      signal?.throwIfAborted();
      const text = JSON.stringify({ ...record, sessionId: this.#row.session_id });
      yield { number: number + 1, start: number, end: number + 1, complete: true, text };
      number += 1;
    }
  }

  readBytes(start: number): Buffer | undefined {
    for (const { record } of this.#store.readMessages(this.#row.conversation_id, start)) {
      return Buffer.from(JSON.stringify({ ...record, sessionId: this.#row.session_id }));
    }
    return undefined;
  }
}

function nameConversation({ session_key: key, session_id: id }: ConversationRow, agent: string) {
  return normaliseOpenclawKey(key ?? `agent:${agent}:lossless-claw:direct:${id}`, agent);
}

/** SQLite's times are in UTC and do not say so. */
function parseLcmTime(text: string): number {
  const zoned = /(?:Z|[+-]\d\d:\d\d)$/i.test(text) ? text : `${text.replace(" ", "T")}Z`;
  const time = Date.parse(zoned);
  return Number.isNaN(time) ? 0 : time;
}

function parseInput(input: unknown): JsonObject {
  if (typeof input !== "string") return {};
  try {
    const value: unknown = JSON.parse(input);
    return isJsonObject(value) ? value : { value: input };
  } catch {
    // Arguments that are no JSON are kept as the text they are.
    return { value: input };
  }
}

function open(file: string): ForeignDatabase {
  try {
    const db = new ForeignDatabase(file);
    db.prepare("select 1 from conversations, messages, summaries, summary_parents limit 1").get();
    return db;
  } catch (error) {
    throw new VarveError("BAD_FILE", `${file} is not a database of lossless-claw.`, {
      remedy:
        "Pass the file lcm.db, usually in ~/.openclaw; a database in use needs its -wal and -shm files next to it.",
      cause: error,
    });
  }
}
