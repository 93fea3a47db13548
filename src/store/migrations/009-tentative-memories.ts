import { sql } from "kysely";
import type { Migration } from "../migrate.ts";

/**
 * Tentative memories, the reviews they belong to, and imported messages that are read for memories from the newest
 * backwards.
 */
export const tentativeMemories: Migration = {
  version: 9,
  name: "tentative memories",
  async up(db, engine) {
    const int = sql.raw(engine === "postgres" ? "bigint" : "integer");
    await sql`alter table memories add column tentative_until ${int}`.execute(db);
    await sql`alter table memory_reviews add column memory text`.execute(db);
    await sql`create index memory_reviews_by_memory on memory_reviews (memory)`.execute(db);
    await sql`alter table memory_cursors add column unread_before ${int}`.execute(db);
  },
};
