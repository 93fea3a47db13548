/** A home of OpenClaw as a test needs it: the database of version 2026.9, and the files of older versions. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import Database from "better-sqlite3";

export interface FakeSession {
  key: string;
  sessionId: string;
  /** The session id that the key points to, when it is another one. */
  current?: string;
  entry?: object;
  createdAt: number;
  events: object[];
}

export const stamp = (time: number) => new Date(time).toISOString();

export const header = (id: string, time: number) => ({
  type: "session",
  version: 4,
  id,
  timestamp: stamp(time),
  cwd: "/ws",
});

export const message = (id: string, parentId: string | null, role: string, text: string, time: number) => ({
  type: "message",
  id,
  parentId,
  timestamp: stamp(time),
  message: { role, content: role === "user" ? text : [{ type: "text", text }], timestamp: time },
});

/** The tables that an import reads, as OpenClaw 2026.9.6 declares them. */
const tables = `
  create table session_nodes (session_key text not null primary key, current_session_id text not null,
    entry_json text not null, updated_at integer not null, parent_session_key text, spawned_by text, label text,
    display_name text, archived_at integer);
  create table session_windows (session_id text not null primary key, session_key text not null,
    previous_session_id text, reason text, created_at integer not null, updated_at integer not null,
    transcript_updated_at integer);
  create table transcript_events (session_id text not null, seq integer not null, event_json text,
    created_at integer not null, event_zstd blob, event_utf8_bytes integer, navigation_json text,
    primary key (session_id, seq));
  create table session_transcript_archives (session_id text not null, generation text not null,
    session_key text not null, reason text not null, encoding text not null, archive_blob blob not null,
    archive_sha256 text not null, archive_name text not null unique, created_at integer not null,
    primary key (session_id, generation));
  create table session_transcript_cold_archives (session_id text not null primary key, generation text not null,
    archive_name text not null unique, archive_sha256 text not null, event_count integer not null,
    raw_bytes integer not null, archive_bytes integer not null, last_seq integer not null,
    archived_at integer not null, storage text not null, archive_blob blob);
  pragma user_version = 23;`;

export function write(path: string, content: string | Uint8Array): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

export const lines = (events: readonly object[]) => events.map((event) => `${JSON.stringify(event)}\n`).join("");

/** The database of one agent. */
export class FakeAgentStore {
  readonly #db: Database.Database;
  readonly #folder: string;

  constructor(home: string, agent: string) {
    this.#folder = join(home, "agents", agent);
    mkdirSync(join(this.#folder, "agent"), { recursive: true });
    this.#db = new Database(join(this.#folder, "agent", "openclaw-agent.sqlite"));
    this.#db.exec(tables);
  }

  add({ key, sessionId, current = sessionId, entry = {}, createdAt, events }: FakeSession): void {
    this.#db
      .prepare(
        `insert into session_nodes values (?, ?, ?, ?, ?, null, null, null, null)
         on conflict (session_key) do update set current_session_id = excluded.current_session_id`,
      )
      .run(
        key,
        current,
        JSON.stringify({ sessionId: current, ...entry }),
        createdAt,
        (entry as { parent?: string }).parent ?? null,
      );
    this.#db
      .prepare("insert into session_windows values (?, ?, null, null, ?, ?, ?)")
      .run(sessionId, key, createdAt, createdAt, createdAt);
    this.append(sessionId, events);
  }

  append(sessionId: string, events: readonly object[]): void {
    const row = this.#db.prepare<[string], { next: number }>(
      "select count(*) as next from transcript_events where session_id = ?",
    );
    const from = row.get(sessionId)?.next ?? 0;
    const insert = this.#db.prepare("insert into transcript_events values (?, ?, ?, 0, ?, ?, ?)");
    for (const [index, event] of events.entries()) {
      const text = JSON.stringify(event);
      const isLarge = Buffer.byteLength(text) >= 1024;
      insert.run(
        sessionId,
        from + index,
        isLarge ? null : text,
        isLarge ? zstdCompressSync(text) : null,
        text.length,
        "{}",
      );
    }
    this.#db
      .prepare("update session_windows set transcript_updated_at = transcript_updated_at + 1 where session_id = ?")
      .run(sessionId);
  }

  /** A deleted session: in the database, and as a file that was published from it. */
  addArchive(key: string, sessionId: string, reason: "reset" | "deleted", createdAt: number, events: object[]): void {
    const blob = zstdCompressSync(lines(events));
    const name = `${sessionId}.jsonl.${reason}.${stamp(createdAt).replaceAll(":", "-")}.0123.zst`;
    this.#db
      .prepare("insert into session_transcript_archives values (?, 'g', ?, ?, 'zstd', ?, '', ?, ?)")
      .run(sessionId, key, reason, blob, name, createdAt);
    write(join(this.#folder, "sessions", name), blob);
  }

  /** Moves the events of a session to cold storage. */
  freeze(sessionId: string): void {
    const rows = this.#db
      .prepare<[string], { event_json: string }>(
        "select event_json from transcript_events where session_id = ? order by seq",
      )
      .all(sessionId);
    write(
      join(this.#folder, "sessions", "cold", "abc.jsonl.zst"),
      zstdCompressSync(rows.map((row) => `${row.event_json}\n`).join("")),
    );
    this.#db
      .prepare(
        "insert into session_transcript_cold_archives values (?, 'g', 'abc.jsonl.zst', '', ?, 0, 0, 0, 0, 'file', null)",
      )
      .run(sessionId, rows.length);
    this.#db.prepare("delete from transcript_events where session_id = ?").run(sessionId);
  }

  close(): void {
    this.#db.close();
  }
}
