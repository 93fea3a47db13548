import { type Compilable, CompiledQuery } from "kysely";
import type { Db } from "./schema.ts";

/** Stands for a value that is given later. */
class Slot {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/**
 * A query of the hot path, built once for each store: building it costs more than running it. What it is made of must not
 * depend on the values it is given, only on their names.
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
