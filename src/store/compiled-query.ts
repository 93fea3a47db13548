import { type Compilable, CompiledQuery } from "kysely";
import type { AttachedStatement } from "./port.ts";
import type { Db } from "./schema.ts";

/** A placeholder for a parameter whose value is supplied later. */
class Slot {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/**
 * Compiles a hot-path query once per store, because building it with Kysely costs more than running it. The shape of
 * the query must not depend on parameter values.
 */
export function prepareQuery<Given extends object, Row>(
  build: (db: Db, given: Given) => Compilable<Row>,
): (db: Db, given: Given) => Compilable<Row> {
  const known = new WeakMap<Db, CompiledQuery>();
  const slots = new Proxy({}, { get: (_, name) => new Slot(String(name)) }) as Given;
  return (db, given) => ({
    compile() {
      const built = known.get(db) ?? build(db, slots).compile();
      known.set(db, built);
      const values = given as Readonly<Record<string, unknown>>;
      const parameters = built.parameters.map((one) => (one instanceof Slot ? values[one.name] : one));
      return CompiledQuery.raw(built.sql, parameters) as CompiledQuery<Row>;
    },
  });
}

/** Compiles a query for `AppendBatch.attached`. */
export function attachStatement(query: Compilable, mustChange = false): AttachedStatement {
  const { sql, parameters } = query.compile();
  return { sql, parameters, ...(mustChange ? { mustChange } : {}) };
}
