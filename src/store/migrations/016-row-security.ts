import type { Migration } from "../migrate.ts";
import { protectTables } from "../postgres/row-security.ts";

/** PostgreSQL: a role that does not own the tables sees only the tenant that its transaction names. */
export const rowSecurity: Migration = {
  version: 16,
  name: "row security",
  async up(db, engine) {
    if (engine === "postgres") await protectTables(db);
  },
};
