import { sql } from "kysely";
import type { Migration } from "../migrate.ts";

/** Messages are embedded newest first; the gaps are what has no vector yet. Spaces so far have none. */
export const embeddingGaps: Migration = {
  version: 18,
  name: "embedding gaps",
  async up(db) {
    await sql`alter table search_states add column gaps text not null default '[]'`.execute(db);
  },
};
