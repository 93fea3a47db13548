import { sql } from "kysely";
import type { Migration } from "../migrate.ts";

/** Large content outside the rows, atomic turns, grants of delegated readers, and model statistics. */
export const largeContent: Migration = {
  version: 3,
  name: "large-content",
  async up(db, engine) {
    const int = sql.raw(engine === "postgres" ? "bigint" : "integer");
    await sql`create table files (
      agent text not null, id text not null, name text, media_type text, kind text not null, summary text not null,
      model_summary text, model text, bytes ${int} not null, lines ${int} not null, tokens ${int} not null,
      content text not null,
      created_at ${int} not null, primary key (agent, id))`.execute(db);
    await sql`create table file_refs (
      agent text not null, conversation ${int} not null, seq ${int} not null, file text not null,
      primary key (agent, seq, file))`.execute(db);
    await sql`create index file_refs_by_file on file_refs (agent, file)`.execute(db);
    await sql`create table turns (
      agent text not null, conversation ${int} not null, key text not null, result text not null,
      created_at ${int} not null, primary key (agent, conversation, key))`.execute(db);
    await sql`create table grants (
      agent text not null, id text not null, origin_key text not null, conversations text not null,
      token_cap ${int} not null, tokens_read ${int} not null, reads ${int} not null, state text not null,
      expires_at ${int} not null, created_at ${int} not null, ended_at ${int}, primary key (agent, id))`.execute(db);
    // Tool results up to here are truncated in the context; it advances only when a compaction changes the prompt
    // anyway.
    await sql`alter table context_states add column pruned_seq ${int} not null default 0`.execute(db);
    await sql`create table model_states (
      name text primary key, calls ${int} not null, failures ${int} not null, input_tokens ${int} not null,
      output_tokens ${int} not null, auth_failures ${int} not null, window_started_at ${int} not null,
      window_calls ${int} not null, paused_until ${int} not null, paused_because text, last_error text,
      last_error_at ${int}, last_ok_at ${int})`.execute(db);
    await sql`create table token_ratios (
      model text primary key, estimated ${int} not null, reported ${int} not null,
      updated_at ${int} not null)`.execute(db);
  },
};
