import { sql } from "kysely";
import type { Migration } from "../migrate.ts";

/**
 * A fork keeps the session boundary of its parent; a notice is for the model or for the person; days count what a
 * provider caches.
 */
export const sessions: Migration = {
  version: 10,
  name: "sessions",
  async up(db, engine) {
    const int = sql.raw(engine === "postgres" ? "bigint" : "integer");
    await sql`alter table transcripts add column inherited_begin_seq ${int}`.execute(db);
    await sql`alter table notices add column audience text not null default 'model'`.execute(db);
    for (const column of ["cacheable_tokens", "cached_tokens"]) {
      await sql`alter table model_days add column ${sql.ref(column)} ${int} not null default 0`.execute(db);
    }
  },
};
