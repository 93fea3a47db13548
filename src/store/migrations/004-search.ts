import { sql } from "kysely";
import type { Migration } from "../migrate.ts";

/** Vectors and token states of each embedding space, and their coverage. */
export const search: Migration = {
  version: 4,
  name: "search",
  async up(db, engine) {
    const int = sql.raw(engine === "postgres" ? "bigint" : "integer");
    const blob = sql.raw(engine === "postgres" ? "bytea" : "blob");
    // Vector rows are small: without a rowid SQLite stores them in the key's own tree, so that a scan reads nothing
    // else.
    const compact = sql.raw(engine === "postgres" ? "" : "without rowid");
    await sql`create table vector_spaces (
      id ${int} primary key, name text not null unique, created_at ${int} not null)`.execute(db);
    await sql`create table entry_vectors (
      agent text not null, space ${int} not null, seq ${int} not null, conversation ${int} not null,
      time ${int} not null, vector ${blob} not null, primary key (agent, space, seq)) ${compact}`.execute(db);
    await sql`create index entry_vectors_by_conversation on entry_vectors (agent, conversation, space, seq)`.execute(
      db,
    );
    await sql`create table entry_tokens (
      agent text not null, space ${int} not null, seq ${int} not null, conversation ${int} not null,
      states ${blob} not null, primary key (agent, space, seq))`.execute(db);
    await sql`create index entry_tokens_by_conversation on entry_tokens (agent, conversation)`.execute(db);
    await sql`create table document_vectors (
      agent text not null, space ${int} not null, kind text not null, id text not null, conversation ${int},
      vector ${blob} not null, states ${blob} not null, primary key (agent, space, kind, id))`.execute(db);
    await sql`create index document_vectors_by_conversation on document_vectors (agent, conversation)`.execute(db);
    await sql`create table search_states (
      agent text not null, space ${int} not null, entry_seq ${int} not null, entries ${int} not null,
      updated_at ${int} not null, primary key (agent, space))`.execute(db);
  },
};
