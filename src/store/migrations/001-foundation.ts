import { sql } from "kysely";
import type { Migration } from "../migrate.ts";

/** The log, what refers to it, and the tables of jobs and imports. */
export const foundation: Migration = {
  version: 1,
  name: "foundation",
  async up(db, engine) {
    const int = sql.raw(engine === "postgres" ? "bigint" : "integer");
    // SQLite uses the row number as the table's key; on PostgreSQL keys start with the tenant, for partitioning.
    const numbered = (column: string, tenantKey: string) =>
      engine === "postgres"
        ? { column: sql.raw(`${column} bigint not null`), key: sql.raw(`, primary key (${tenantKey})`) }
        : { column: sql.raw(`${column} integer primary key`), key: sql.raw("") };

    const conversation = numbered("id", "agent, id");
    await sql`create table conversations (
      agent text not null, ${conversation.column}, key text not null,
      created_at ${int} not null, updated_at ${int} not null, archived_at ${int},
      head_branch ${int}, head_seq ${int}, branch_count ${int} not null default 0,
      entry_count ${int} not null default 0, message_count ${int} not null default 0, tokens ${int} not null default 0
      ${conversation.key})`.execute(db);
    await sql`create index conversations_by_key on conversations (agent, key, created_at)`.execute(db);

    const transcript = numbered("id", "agent, id");
    await sql`create table transcripts (
      agent text not null, ${transcript.column}, session_id text not null, conversation ${int} not null,
      started_at ${int} not null, ended_at ${int}, first_seq ${int}, last_seq ${int},
      parent_session text, cwd text, title text ${transcript.key})`.execute(db);
    await sql`create unique index transcripts_by_session on transcripts (agent, session_id)`.execute(db);
    await sql`create index transcripts_by_conversation on transcripts (agent, conversation)`.execute(db);

    await sql`create table branches (
      agent text not null, conversation ${int} not null, branch ${int} not null,
      parent_conversation ${int}, parent_branch ${int}, fork_seq ${int}, tip_seq ${int},
      primary key (agent, conversation, branch))`.execute(db);

    const entry = numbered("seq", "agent, conversation, branch, seq");
    await sql`create table entries (
      ${entry.column}, agent text not null, conversation ${int} not null, branch ${int} not null,
      transcript ${int} not null, id text not null, kind text not null, time ${int} not null, tokens ${int} not null,
      payload text not null ${entry.key})`.execute(db);
    await sql`create unique index entries_by_id on entries (agent, conversation, id)`.execute(db);
    if (engine === "postgres") await sql`create index entries_by_seq on entries (seq)`.execute(db);
    else await sql`create index entries_by_branch on entries (agent, conversation, branch)`.execute(db);

    await sql`create table sessions (
      agent text not null, key text not null, session_id text not null, conversation ${int} not null,
      session_started_at ${int} not null, last_interaction_at ${int} not null, updated_at ${int} not null,
      created_at ${int} not null, chat_type text not null, channel text, subject text, room text, space text,
      display_name text, thinking_level text, verbose_level text, reasoning_level text, elevated_level text,
      send_policy text, provider_override text, model_override text, auth_profile_override text,
      input_tokens ${int} not null default 0, output_tokens ${int} not null default 0,
      total_tokens ${int} not null default 0, context_tokens ${int} not null default 0,
      message_count ${int} not null default 0, compaction_count ${int} not null default 0,
      memory_flush_at ${int}, memory_flush_compaction_count ${int}, origin text, metadata text not null default '{}',
      primary key (agent, key))`.execute(db);
    await sql`create index sessions_by_update on sessions (agent, updated_at desc, key)`.execute(db);
    await sql`create index sessions_by_session on sessions (agent, session_id)`.execute(db);
    await sql`create index sessions_by_conversation on sessions (agent, conversation)`.execute(db);

    await sql`create table notices (
      agent text not null, key text not null, id text not null, session_id text not null, time ${int} not null,
      text text not null, primary key (agent, key, id))`.execute(db);
    await sql`create table cron_runs (
      agent text not null, job_id text not null, run_id text not null, time ${int} not null, bytes ${int} not null,
      log text not null, primary key (agent, job_id, run_id))`.execute(db);
    await sql`create table checkpoints (
      agent text not null, conversation ${int} not null, name text not null, time ${int} not null,
      head_branch ${int}, head_seq ${int}, data text not null, primary key (agent, conversation, name))`.execute(db);

    await sql`create table import_files (
      agent text not null, path text not null, source text not null, size ${int} not null, mtime ${int} not null,
      position ${int} not null, records ${int} not null, messages ${int} not null, last_hash text not null,
      last_start ${int} not null, state text, updated_at ${int} not null, primary key (agent, path))`.execute(db);
    await sql`create table quarantine (
      agent text not null, id text not null, path text not null, record ${int} not null, reason text not null,
      raw text not null, time ${int} not null, primary key (agent, id))`.execute(db);
    await sql`create index quarantine_by_path on quarantine (agent, path, record)`.execute(db);

    await sql`create table jobs (
      agent text not null, id text not null, kind text not null, key text not null, payload text not null,
      state text not null, attempts ${int} not null default 0, run_at ${int} not null, lease_owner text,
      lease_until ${int}, last_error text, created_at ${int} not null, updated_at ${int} not null,
      primary key (agent, id))`.execute(db);
    await sql`create unique index jobs_by_key on jobs (agent, kind, key)`.execute(db);
    await sql`create index jobs_due on jobs (state, run_at)`.execute(db);
    await sql`create table leases (
      name text not null primary key, owner text not null, until ${int} not null, fence ${int} not null)`.execute(db);

    if (engine === "postgres") {
      for (const name of ["conversation_id", "transcript_id", "entry_seq"]) {
        await sql`create sequence ${sql.raw(name)}`.execute(db);
      }
      // English stemming without stop words, like SQLite's porter tokenizer.
      await sql`create text search dictionary varve_stem (template = snowball, language = english)`.execute(db);
      await sql`create text search configuration varve (copy = simple)`.execute(db);
      await sql`alter text search configuration varve
        alter mapping for asciiword, word, hword, hword_part, hword_asciipart, asciihword with varve_stem`.execute(db);
      await sql`create table entry_text (
        agent text not null, conversation bigint not null, seq bigint not null, piece int not null,
        words tsvector not null, primary key (agent, conversation, seq, piece))`.execute(db);
      await sql`create index entry_text_words on entry_text using gin (words)`.execute(db);
    } else {
      await sql`create table counters (name text primary key, value integer not null) without rowid`.execute(db);
      await sql`insert into counters values ('conversation_id', 0), ('transcript_id', 0), ('entry_seq', 0)`.execute(db);
      // Contentless: only the words are indexed; the log holds the only copy of the text.
      await sql`create virtual table entry_text using fts5(words, content='', contentless_delete=1,
        tokenize="porter unicode61 remove_diacritics 2")`.execute(db);
    }
  },
};
