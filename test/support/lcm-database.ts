/** A database of lossless-claw as a test needs it: the columns that an import reads. */
import Database from "better-sqlite3";

const tables = `
  create table conversations (conversation_id integer primary key, session_id text not null, session_key text,
    active integer not null default 1, archived_at text, archive_cause text, title text, bootstrapped_at text,
    created_at text not null, updated_at text not null);
  create table messages (message_id integer primary key, conversation_id integer not null, seq integer not null,
    role text not null, content text not null, token_count integer not null, identity_hash text,
    transcript_entry_id text, created_at text not null);
  create table message_parts (part_id text primary key, message_id integer not null, session_id text not null,
    part_type text not null, ordinal integer not null, text_content text, tool_call_id text, tool_name text,
    tool_input text, tool_output text, tool_error text, metadata text);
  create table summaries (summary_id text primary key, conversation_id integer not null, kind text not null,
    depth integer not null, content text not null, token_count integer not null, earliest_at text, latest_at text,
    created_at text not null, file_ids text not null default '[]');
  create table summary_messages (summary_id text not null, message_id integer not null, ordinal integer not null);
  create table summary_parents (summary_id text not null, parent_summary_id text not null, ordinal integer not null);
  create table context_items (conversation_id integer not null, ordinal integer not null, item_type text not null,
    message_id integer, summary_id text);
  create table large_files (file_id text primary key, conversation_id integer not null, file_name text, mime_type text,
    byte_size integer, line_count integer, storage_uri text not null, exploration_summary text, created_at text);`;

export interface LcmMessage {
  role: "user" | "assistant" | "tool";
  content: string;
  entryId?: string;
  parts?: object[];
}

/** One conversation of sixteen or more messages: four leaves of four messages, condensed into one summary. */
export function writeLcmDatabase(
  file: string,
  given: { sessionId: string; key: string; messages: LcmMessage[]; largeFile?: { id: string; path: string } },
): void {
  const db = new Database(file);
  db.exec(tables);
  const time = (index: number) => `2026-01-02 03:${String(index).padStart(2, "0")}:00`;
  db.prepare("insert into conversations values (1, ?, ?, 1, null, null, 'The garden', null, ?, ?)").run(
    given.sessionId,
    given.key,
    time(0),
    time(0),
  );
  for (const [index, { role, content, entryId, parts = [] }] of given.messages.entries()) {
    db.prepare("insert into messages values (?, 1, ?, ?, ?, 5, null, ?, ?)").run(
      index + 1,
      index,
      role,
      content,
      entryId ?? null,
      time(index),
    );
    for (const [ordinal, part] of parts.entries()) {
      const columns = {
        part_id: `p${index}-${ordinal}`,
        message_id: index + 1,
        session_id: given.sessionId,
        ordinal,
        ...part,
      };
      const names = Object.keys(columns);
      db.prepare(`insert into message_parts (${names.join(", ")}) values (${names.map(() => "?").join(", ")})`).run(
        ...Object.values(columns),
      );
    }
  }
  const summary = db.prepare("insert into summaries values (?, 1, ?, ?, ?, 9, null, null, ?, '[]')");
  for (let leaf = 0; leaf < 3; leaf += 1) {
    summary.run(`sum_leaf${leaf}`, "leaf", 0, `What was said in part ${leaf}.`, time(30));
    for (let at = 0; at < 4; at += 1) {
      db.prepare("insert into summary_messages values (?, ?, ?)").run(`sum_leaf${leaf}`, leaf * 4 + at + 1, at);
    }
  }
  summary.run("sum_condensed", "condensed", 1, "What was said in parts 0 and 1.", time(31));
  for (const leaf of [0, 1])
    db.prepare("insert into summary_parents values ('sum_condensed', ?, ?)").run(`sum_leaf${leaf}`, leaf);
  const item = db.prepare("insert into context_items values (1, ?, ?, ?, ?)");
  item.run(0, "summary", null, "sum_condensed");
  item.run(1, "summary", null, "sum_leaf2");
  for (let at = 13; at <= given.messages.length; at += 1) item.run(at, "message", at, null);
  if (given.largeFile) {
    db.prepare("insert into large_files values (?, 1, 'log.txt', 'text/plain', 9, 1, ?, 'A log.', ?)").run(
      given.largeFile.id,
      given.largeFile.path,
      time(1),
    );
  }
  db.close();
}
