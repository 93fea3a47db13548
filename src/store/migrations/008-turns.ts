import { sql } from "kysely";
import type { Migration } from "../migrate.ts";

/** The inbox of accepted messages, and model usage per day. */
export const turns: Migration = {
  version: 8,
  name: "turns",
  async up(db, engine) {
    const int = sql.raw(engine === "postgres" ? "bigint" : "integer");
    const num = sql.raw(engine === "postgres" ? "bigserial primary key" : "integer primary key autoincrement");
    await sql`create table inbox (
      num ${num}, agent text not null, id text not null, source text not null, key text not null, sender text not null,
      payload text not null, state text not null, turn text, attempts ${int} not null, ready_at ${int} not null,
      progress text, lease_owner text, lease_until ${int}, result text, accepted_at ${int} not null,
      updated_at ${int} not null)`.execute(db);
    await sql`create unique index inbox_by_id on inbox (agent, id)`.execute(db);
    // A message that a channel delivers twice is stored once.
    await sql`create unique index inbox_by_source on inbox (agent, source)`.execute(db);
    await sql`create index inbox_open on inbox (agent, key, num) where state in ('waiting', 'running')`.execute(db);
    await sql`create index inbox_due on inbox (ready_at) where state in ('waiting', 'running')`.execute(db);
    await sql`create table model_days (
      day text not null, purpose text not null, model text not null, calls ${int} not null,
      input_tokens ${int} not null, output_tokens ${int} not null, primary key (day, purpose, model))`.execute(db);
  },
};
