import { sql } from "kysely";
import type { Migration } from "../migrate.ts";

/** The summary DAG, and the part of it that is in each conversation's context. */
export const context: Migration = {
  version: 2,
  name: "context",
  async up(db, engine) {
    const int = sql.raw(engine === "postgres" ? "bigint" : "integer");
    await sql`create table summaries (
      agent text not null, conversation ${int} not null, id text not null, kind text not null, depth ${int} not null,
      content text not null, tokens ${int} not null, earliest_at ${int} not null, latest_at ${int} not null,
      descendant_count ${int} not null, descendant_tokens ${int} not null, source_message_tokens ${int} not null,
      source_message_count ${int} not null, first_seq ${int} not null, last_seq ${int} not null, file_ids text not null,
      model text, prompt_version ${int} not null, level text not null, quality text not null, created_at ${int} not null,
      primary key (agent, conversation, id))`.execute(db);
    await sql`create index summaries_by_id on summaries (agent, id)`.execute(db);
    await sql`create table summary_sources (
      agent text not null, conversation ${int} not null, summary text not null, position ${int} not null,
      entry_seq ${int}, source text, primary key (agent, conversation, summary, position))`.execute(db);
    await sql`create index summary_sources_by_source on summary_sources (agent, conversation, source)`.execute(db);
    // Only summaries are listed: after the last of them, the context is the branch itself, message by message.
    await sql`create table context_items (
      agent text not null, conversation ${int} not null, position ${int} not null, summary text not null,
      primary key (agent, conversation, position))`.execute(db);
    await sql`create table context_states (
      agent text not null, conversation ${int} not null, covered_seq ${int} not null, version ${int} not null,
      compacted_at ${int} not null, primary key (agent, conversation))`.execute(db);
  },
};
