import type { Compilable } from "kysely";
import type { AttachedStatement } from "./port.ts";

/** A query as it is written with a batch; with `mustChange`, the batch depends on it. */
export function attachStatement(query: Compilable, mustChange = false): AttachedStatement {
  const { sql, parameters } = query.compile();
  return { sql, parameters, ...(mustChange ? { mustChange } : {}) };
}
