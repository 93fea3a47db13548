import { sql } from "kysely";
import type { Migration } from "../migrate.ts";

/**
 * Memories with their versions, evidence and use. Their tenant is the scope, because agents share memories; `agent` is
 * only the author.
 */
export const memory: Migration = {
  version: 5,
  name: "memory",
  async up(db, engine) {
    const int = sql.raw(engine === "postgres" ? "bigint" : "integer");
    const real = sql.raw(engine === "postgres" ? "double precision" : "real");
    const numbered =
      engine === "postgres"
        ? { column: sql.raw("num bigint not null"), key: sql.raw(", primary key (scope, id)") }
        : { column: sql.raw("num integer primary key"), key: sql.raw("") };
    await sql`create table memories (
      ${numbered.column}, scope text not null, id text not null, root text not null, version ${int} not null,
      agent text not null, category text not null, abstract text not null, overview text not null,
      content text not null, importance ${real} not null, confidence ${real} not null, tier text not null,
      temporal_type text not null, created_at ${int} not null, last_accessed_at ${int},
      access_count ${int} not null, valid_from ${int} not null, invalidated_at ${int}, expires_at ${int},
      forgotten_at ${int}, supersedes text, superseded_by text, fact_key text, trust text not null,
      extractor text not null, fiction ${int} not null ${numbered.key})`.execute(db);
    if (engine === "sqlite") await sql`create unique index memories_by_scope on memories (scope, id)`.execute(db);
    await sql`create unique index memories_by_id on memories (id)`.execute(db);
    await sql`create index memories_by_number on memories (scope, num)`.execute(db);
    await sql`create index memories_by_root on memories (root, version)`.execute(db);
    await sql`create index memories_by_fact on memories (scope, fact_key)`.execute(db);
    await sql`create index memories_by_time on memories (scope, created_at, id)`.execute(db);

    await sql`create table memory_sources (
      memory text not null, position ${int} not null, agent text not null, session_id text not null,
      seq ${int} not null, start_at ${int} not null, end_at ${int} not null,
      primary key (memory, position))`.execute(db);
    await sql`create index memory_sources_by_entry on memory_sources (agent, seq)`.execute(db);
    await sql`create table memory_relations (
      memory text not null, other text not null, kind text not null, label text not null, created_at ${int} not null,
      primary key (memory, other, kind, label))`.execute(db);
    await sql`create table memory_support (
      memory text not null, label text not null, confirmed ${int} not null, contradicted ${int} not null,
      primary key (memory, label))`.execute(db);
    await sql`create table memory_vectors (
      memory text not null, model text not null, vector text not null, primary key (memory, model))`.execute(db);
    // Candidates between the two admission thresholds, until a person decides.
    await sql`create table memory_reviews (
      id text not null primary key, scope text not null, agent text not null, state text not null,
      candidate text not null, score ${real} not null, features text not null, created_at ${int} not null,
      decided_at ${int})`.execute(db);
    await sql`create index memory_reviews_by_scope on memory_reviews (scope, state, created_at)`.execute(db);
    // How far a conversation has been processed for memories.
    await sql`create table memory_cursors (
      agent text not null, conversation ${int} not null, seq ${int} not null, updated_at ${int} not null,
      primary key (agent, conversation))`.execute(db);
    // The memories shown with a message, verbatim, so that the prompt stays stable and can be explained.
    await sql`create table memory_recalls (
      agent text not null, conversation ${int} not null, seq ${int} not null, time ${int} not null,
      prompt text not null, block text not null, tokens ${int} not null, memories text not null,
      primary key (agent, conversation, seq))`.execute(db);
    // Files of a client that stores its own notes. A change adds a version; a version without content frees the path.
    await sql`create table memory_files (
      scope text not null, path text not null, version ${int} not null, content text, created_at ${int} not null,
      primary key (scope, path, version))`.execute(db);
    await sql`create table memory_accesses (batch text not null primary key, time ${int} not null)`.execute(db);
    await sql`create table memory_spend (
      agent text not null, span text not null, started_at ${int} not null, used ${int} not null,
      primary key (agent, span))`.execute(db);

    if (engine === "postgres") {
      await sql`create sequence memory_number`.execute(db);
      await sql`create table memory_text (
        scope text not null, num bigint not null, words tsvector not null, primary key (scope, num))`.execute(db);
      await sql`create index memory_text_words on memory_text using gin (words)`.execute(db);
    } else {
      await sql`insert into counters values ('memory_number', 0)`.execute(db);
      await sql`create virtual table memory_text using fts5(words, content='', contentless_delete=1,
        tokenize="porter unicode61 remove_diacritics 2")`.execute(db);
    }
  },
};
