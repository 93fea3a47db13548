import type { Compilable } from "kysely";
import type { AlsoStatement } from "./port.ts";

/** A query as it is written with a batch; with `mustChange`, the batch depends on it. */
export function alsoWrite(query: Compilable, mustChange = false): AlsoStatement {
  const { sql, parameters } = query.compile();
  return { sql, parameters, ...(mustChange ? { mustChange } : {}) };
}
