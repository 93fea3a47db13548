import { VarveError } from "../domain/index.ts";
import type { Distribution, Store } from "../store/index.ts";

/** Distributes the tables over the workers of a Citus cluster. */
export async function distributeDatabase(store: Store): Promise<Distribution> {
  if (!store.distribute) {
    throw new VarveError("REFUSED", "SQLite is one file on one machine: its tables cannot be distributed.", {
      remedy: "Name the coordinator of a Citus cluster with --database postgres://….",
    });
  }
  return store.distribute();
}
