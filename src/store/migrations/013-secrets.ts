import { sql } from "kysely";
import type { Migration } from "../migrate.ts";

/** Credentials that are taken out of messages are kept aside, encrypted. */
export const secrets: Migration = {
  version: 13,
  name: "secrets",
  async up(db, engine) {
    const int = sql.raw(engine === "postgres" ? "bigint" : "integer");
    await sql`create table secrets (
      agent text not null, id text not null, kind text not null, text text not null, created_at ${int} not null,
      primary key (agent, id))`.execute(db);
  },
};
