import { type RawBuilder, sql } from "kysely";
import type { Store } from "./port.ts";

/**
 * The condition that rows of `entries` belong to an agent, for statements that name their sequence numbers. SQLite finds
 * them by number: the unary plus keeps it from scanning all entries of the agent instead. PostgreSQL has an index on
 * both.
 */
export function isOfAgent({ engine }: Pick<Store, "engine">, agent: string): RawBuilder<boolean> {
  return engine === "sqlite" ? sql<boolean>`+agent = ${agent}` : sql<boolean>`agent = ${agent}`;
}
