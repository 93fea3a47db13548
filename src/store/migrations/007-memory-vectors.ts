import { sql } from "kysely";
import type { Migration } from "../migrate.ts";

/**
 * Vectors of memories as bytes in an embedding space, numbered in the order of writing, so that a cache reads only new
 * ones. The previous vectors are dropped: they are derived and get rebuilt in the background.
 */
export const memoryVectors: Migration = {
  version: 7,
  name: "memory vectors",
  async up(db, engine) {
    await sql`drop table memory_vectors`.execute(db);
    if (engine === "postgres") {
      await sql`create table memory_vectors (
        scope text not null, space bigint not null, num bigint not null, memory text not null,
        written bigint generated always as identity, vector bytea not null,
        primary key (scope, space, num))`.execute(db);
      await sql`create index memory_vectors_by_writing on memory_vectors (space, written)`.execute(db);
      return;
    }
    await sql`create table memory_vectors (
      written integer primary key, scope text not null, space integer not null, num integer not null,
      memory text not null, vector blob not null)`.execute(db);
    await sql`create unique index memory_vectors_by_number on memory_vectors (scope, space, num)`.execute(db);
  },
};
