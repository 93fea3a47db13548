import { sql } from "kysely";
import type { Migration } from "../migrate.ts";

/** Notes and folders, as last read from disk; derived, so they can be rebuilt from there. */
export const corpus: Migration = {
  version: 6,
  name: "corpus",
  async up(db, engine) {
    const int = sql.raw(engine === "postgres" ? "bigint" : "integer");
    await sql`create table corpus_files (
      agent text not null, corpus text not null, path text not null, hash text not null, mtime_us ${int} not null,
      size ${int} not null, time ${int} not null, read_at ${int} not null, primary key (agent, path))`.execute(db);
    await sql`create table corpus_chunks (
      agent text not null, path text not null, start_line ${int} not null, end_line ${int} not null,
      part ${int} not null, corpus text not null, hash text not null, heading text not null, text text not null,
      tokens ${int} not null, time ${int} not null, primary key (agent, path, start_line, end_line, part))`.execute(db);
    // A chunk's vector is stored under the hash of its text, so that moved or repeated text is embedded once.
    await sql`create index corpus_chunks_by_hash on corpus_chunks (agent, hash)`.execute(db);
    await sql`create table corpus_states (
      agent text not null primary key, revision ${int} not null, updated_at ${int} not null)`.execute(db);
  },
};
