import { sql } from "kysely";
import type { Migration } from "../migrate.ts";

/** The audit log: who read or changed what. Each row has a hash of itself and of the row before it. */
export const audit: Migration = {
  version: 15,
  name: "audit",
  async up(db, engine) {
    const int = sql.raw(engine === "postgres" ? "bigint" : "integer");
    await sql`create table audit (
      num ${int} not null primary key, time ${int} not null, process text not null, principal text not null,
      action text not null, targets text not null, status text not null, hash text not null)`.execute(db);
    await sql`create table audit_links (
      name text not null primary key, num ${int} not null, hash text not null)`.execute(db);
    await sql`create index audit_by_principal on audit (principal, num)`.execute(db);
  },
};
