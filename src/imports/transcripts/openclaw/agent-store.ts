import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { isJsonObject, type JsonObject, VarveError } from "../../../domain/index.ts";
import { ForeignDatabase } from "../foreign-database.ts";
import type { LegacySession } from "../legacy.ts";
import type { FileRecord } from "../records.ts";
import { ArchiveSource, type TranscriptSource } from "../transcript-source.ts";
import { normaliseOpenclawKey } from "./session-keys.ts";

/** OpenClaw's name for the database of an agent, in `agents/<agent>/agent/`. */
export const agentStoreName = "openclaw-agent.sqlite";

interface WindowRow {
  session_id: string;
  session_key: string;
  created_at: number;
  transcript_updated_at: number | null;
  updated_at: number;
  current_session_id: string;
  entry_json: string;
  parent_session_key: string | null;
  spawned_by: string | null;
  label: string | null;
  display_name: string | null;
  archived_at: number | null;
}

interface ArchiveRow {
  session_id: string;
  session_key: string;
  reason: string;
  encoding: string;
  archive_blob: Buffer;
  archive_name: string;
  created_at: number;
}

const archiveTexts = ["session_id", "session_key", "reason", "encoding", "archive_name"] as const;

interface ColdRow {
  session_id: string;
  archive_name: string;
  storage: string;
  archive_blob: Buffer | null;
  archived_at: number;
}

interface EventRow {
  seq: number;
  event_json: string | null;
  event_zstd?: Buffer | null;
}

/** The transcripts in the database of one agent of OpenClaw. Only reads; OpenClaw may be running. */
export class AgentStore {
  readonly #file: string;
  readonly #agent: string;
  readonly #db: ForeignDatabase;
  readonly #eventColumns: string;

  constructor(file: string, agent: string) {
    this.#file = file;
    this.#agent = agent;
    this.#db = new ForeignDatabase(file);
    const tables = new Set(
      this.#db
        .prepare<[], { name: string }>("select name from sqlite_master")
        .all()
        .map(({ name }) => name),
    );
    const missing = ["session_nodes", "session_windows", "transcript_events"].filter((name) => !tables.has(name));
    if (missing.length > 0) {
      this.#db.close();
      throw new VarveError("UNKNOWN_FORMAT", `${file} has no table ${missing.join(", ")}, which OpenClaw 2026.9 has.`, {
        remedy: "Run `openclaw doctor --fix` with OpenClaw 2026.9.6 or newer, which migrates it, and import it again.",
      });
    }
    const columns = this.#db.prepare<[], { name: string }>("pragma table_info(transcript_events)").all();
    this.#eventColumns = ["seq", "event_json", "event_zstd"]
      .filter((name) => columns.some((column) => column.name === name))
      .join(", ");
  }

  close(): void {
    this.#db.close();
  }

  /** The transcripts: those of current sessions, then earlier ones of their keys, then deleted ones. */
  listSources(): TranscriptSource[] {
    const cold = new Map(
      this.#readAll<ColdRow>("session_transcript_cold_archives", ["session_id", "archive_name"]).map((row) => [
        row.session_id,
        row,
      ]),
    );
    const windows = this.#db
      .prepare<[], WindowRow>(
        `select w.session_id, w.session_key, w.created_at, w.transcript_updated_at, w.updated_at, n.current_session_id,
           n.entry_json, n.parent_session_key, n.spawned_by, n.label, n.display_name, n.archived_at
         from session_windows w join session_nodes n on n.session_key = w.session_key
         order by w.session_id <> n.current_session_id, w.created_at, w.session_id`,
        ["session_id", "session_key", "current_session_id", "entry_json"],
      )
      .all();
    const archives = this.#readAll<ArchiveRow>("session_transcript_archives", archiveTexts).sort(
      (a, b) => a.created_at - b.created_at,
    );
    return [
      ...windows.map((row) => this.#windowSource(row, cold.get(row.session_id))),
      ...archives.map((row) => this.#archiveSource(row)),
    ];
  }

  /** The names of archives that are also files, so that they are read once. */
  listArchiveNames(): string[] {
    return this.#readAll<ArchiveRow>("session_transcript_archives", archiveTexts).map((row) => row.archive_name);
  }

  #windowSource(row: WindowRow, cold: ColdRow | undefined): TranscriptSource {
    const isCurrent = row.session_id === row.current_session_id;
    const session: LegacySession = {
      ...this.#nameSession(row.session_id, row.session_key),
      fields: isCurrent ? parseFields(this.#file, row) : {},
      ...(isCurrent ? {} : { archived: { reason: "earlier session of its key", at: row.updated_at } }),
      ...((row.parent_session_key ?? row.spawned_by)
        ? { parentKey: row.parent_session_key ?? row.spawned_by ?? "" }
        : {}),
    };
    const facts = { agent: session.agent, sessions: new Map([[row.session_id, session]]) };
    const path = `${this.#file}#${row.session_id}`;
    if (!cold) {
      const time = row.transcript_updated_at ?? row.updated_at;
      return new RowSource(path, this.#db, this.#eventColumns, row.session_id, time, facts);
    }
    if (cold.archive_blob !== null) {
      return new ArchiveSource(path, { bytes: cold.archive_blob, time: cold.archived_at }, true, facts);
    }
    const folder = join(dirname(dirname(this.#file)), "sessions", "cold");
    const file = join(folder, cold.archive_name);
    if (existsSync(file)) return new ArchiveSource(path, { file }, true, facts);
    throw new VarveError(
      "FILE_NOT_FOUND",
      `The transcript ${row.session_id} is in cold storage, and ${file} is missing.`,
      {
        remedy: "Bring the file back, or restore the session in OpenClaw, and import again.",
      },
    );
  }

  #archiveSource(row: ArchiveRow): TranscriptSource {
    const session: LegacySession = {
      ...this.#nameSession(row.session_id, row.session_key),
      fields: {},
      archived: { reason: row.reason, at: row.created_at },
    };
    const facts = { agent: session.agent, sessions: new Map([[row.session_id, session]]) };
    const content = { bytes: row.archive_blob, time: row.created_at };
    return new ArchiveSource(`${this.#file}#${row.archive_name}`, content, row.encoding === "zstd", facts);
  }

  #nameSession(sessionId: string, sessionKey: string) {
    const { key, agent } = normaliseOpenclawKey(sessionKey, this.#agent);
    return { sessionId, key, agent, sourceKey: sessionKey };
  }

  /** The rows of a table that older versions do not have. */
  #readAll<Row>(table: string, texts: readonly (keyof Row & string)[]): Row[] {
    const exists = this.#db.prepare("select 1 from sqlite_master where name = ?").get(table);
    return exists === undefined ? [] : this.#db.prepare<[], Row>(`select * from ${table}`, texts).all();
  }
}

/** The events of one session id in the database. */
class RowSource implements TranscriptSource {
  readonly path: string;
  readonly agent?: string;
  readonly sessions?: ReadonlyMap<string, LegacySession>;
  readonly #db: ForeignDatabase;
  readonly #columns: string;
  readonly #sessionId: string;
  readonly #time: number;

  constructor(
    path: string,
    db: ForeignDatabase,
    columns: string,
    sessionId: string,
    time: number,
    facts: Pick<TranscriptSource, "agent" | "sessions">,
  ) {
    this.path = path;
    this.agent = facts.agent;
    this.sessions = facts.sessions;
    this.#db = db;
    this.#columns = columns;
    this.#sessionId = sessionId;
    this.#time = time;
  }

  measure(): { size: number; mtimeMs: number } {
    const row = this.#db
      .prepare<[string], { size: number | null }>(
        "select max(seq) + 1 as size from transcript_events where session_id = ?",
      )
      .get(this.#sessionId);
    return { size: row?.size ?? 0, mtimeMs: this.#time };
  }

  async *read(from: { record: number; end: number }, signal?: AbortSignal): AsyncGenerator<FileRecord> {
    const rows = this.#db
      .prepare<[string, number], EventRow>(
        `select ${this.#columns} from transcript_events where session_id = ? and seq >= ? order by seq`,
      )
      .iterate(this.#sessionId, from.end);
    for (const row of rows) {
      signal?.throwIfAborted();
      const place = { number: row.seq + 1, start: row.seq, end: row.seq + 1, complete: true };
      yield { ...place, ...decodeEvent(row) };
    }
  }

  readBytes(start: number): Buffer | undefined {
    const row = this.#db
      .prepare<[string, number], EventRow>(
        `select ${this.#columns} from transcript_events where session_id = ? and seq = ?`,
      )
      .get(this.#sessionId, start);
    const text = row && decodeEvent(row).text;
    return text === undefined ? undefined : Buffer.from(text);
  }
}

function decodeEvent({ event_json: json, event_zstd: zstd }: EventRow): Pick<FileRecord, "text" | "bytes"> {
  if (json !== null) return { text: json };
  if (!zstd) return { bytes: Buffer.alloc(0) };
  try {
    return { text: zstdDecompressSync(zstd).toString("utf8") };
  } catch {
    // A damaged frame is quarantined with its bytes.
    return { bytes: zstd };
  }
}

function parseFields(file: string, row: WindowRow): JsonObject {
  const { entry_json: json, label, display_name: displayName } = row;
  let fields: unknown;
  try {
    fields = JSON.parse(json);
  } catch (cause) {
    throw new VarveError("BAD_FILE", `${file} cannot be read: the settings of ${row.session_id} are not JSON.`, {
      remedy: "Run `openclaw doctor --fix`, and import it again.",
      cause,
    });
  }
  return {
    ...(displayName === null ? {} : { displayName }),
    ...(label === null ? {} : { label }),
    ...(isJsonObject(fields) ? fields : {}),
  };
}
