import { sql } from "kysely";
import type { Migration } from "../migrate.ts";

/** Access tokens of the gateway, which are created and revoked while it runs. */
export const tokens: Migration = {
  version: 14,
  name: "tokens",
  async up(db, engine) {
    const int = sql.raw(engine === "postgres" ? "bigint" : "integer");
    await sql`create table tokens (
      id text not null primary key, name text not null, hash text not null, agent text, scopes text,
      rights text not null, created_at ${int} not null, expires_at ${int}, last_used_at ${int}, revoked_at ${int},
      rotated_from text)`.execute(db);
    await sql`create unique index tokens_by_hash on tokens (hash)`.execute(db);
  },
};
