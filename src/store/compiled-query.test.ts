import {
  type Compilable,
  DummyDriver,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from "kysely";
import { expect, it } from "vitest";
import { prepareQuery } from "./compiled-query.ts";
import type { Schema } from "./schema.ts";

const db = new Kysely<Schema>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (one) => new SqliteIntrospector(one),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

it("is compiled once, and binds each value to its parameter", () => {
  let built = 0;
  const query = prepareQuery((on, given: { agent: string; seq: number; limit: number }) => {
    built += 1;
    return on
      .selectFrom("entries")
      .select("id")
      .where("agent", "=", given.agent)
      .where("kind", "=", "user")
      .where("seq", ">", sql<number>`coalesce(${given.seq}, 0)`)
      .limit(given.limit);
  });
  const getParameters = (one: Compilable) => one.compile().parameters;
  expect(getParameters(query(db, { agent: "a", seq: 1, limit: 5 }))).toEqual(["a", "user", 1, 5]);
  expect(getParameters(query(db, { limit: 6, seq: 2, agent: "b" }))).toEqual(["b", "user", 2, 6]);
  expect(built).toBe(1);
});
