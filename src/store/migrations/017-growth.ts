import { sql } from "kysely";
import type { Migration } from "../migrate.ts";
import { indexWordsByTenant } from "../postgres/word-index.ts";

/**
 * PostgreSQL: indexes that start with the tenant, so that a query reads the rows of one tenant however many others there
 * are. Each is created only when it is missing: the owner of a large database can create it before the upgrade with
 * `create index concurrently`.
 */
export const growth: Migration = {
  version: 17,
  name: "growth",
  async up(db, engine) {
    await sql`create index if not exists inbox_by_update on inbox (updated_at) where state = 'done'`.execute(db);
    await sql`create index if not exists turns_by_creation on turns (created_at)`.execute(db);
    if (engine !== "postgres") return;
    await sql`create index if not exists entries_by_agent on entries (agent, seq)`.execute(db);
    await sql`create index if not exists entry_text_by_agent on entry_text (agent, seq desc)`.execute(db);
    await indexWordsByTenant(db);
  },
};
