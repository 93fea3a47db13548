import type { Store } from "../store/index.ts";

const pageRows = 2_000;

/** Whether a memory behind a number, of some scopes or of any, has a vector in another space and none in this one. */
export async function lacksVectors(
  store: Store,
  { space, other, after, scopes }: { space: number; other: number; after: number; scopes?: readonly string[] },
): Promise<boolean> {
  const lacking = store.db
    .selectFrom("memories as m")
    .innerJoin("memory_vectors as o", (join) =>
      join.onRef("o.scope", "=", "m.scope").on("o.space", "=", other).onRef("o.num", "=", "m.num"),
    )
    .leftJoin("memory_vectors as v", (join) =>
      join.onRef("v.scope", "=", "m.scope").on("v.space", "=", space).onRef("v.num", "=", "m.num"),
    )
    .select("m.num")
    .where("m.num", ">", after)
    .where("v.num", "is", null)
    .limit(1);
  const found = await (scopes === undefined ? lacking : lacking.where("m.scope", "in", [...scopes])).execute();
  return found.length > 0;
}

/** Removes every vector of a space, in pages, and says how many there were. */
export async function removeVectors(store: Store, space: number, signal?: AbortSignal): Promise<number> {
  for (let removed = 0; ; ) {
    signal?.throwIfAborted();
    const rows = await store.db
      .selectFrom("memory_vectors")
      .select("written")
      .where("space", "=", space)
      .orderBy("written")
      .limit(pageRows)
      .execute();
    const last = rows.at(-1)?.written;
    if (last === undefined) return removed;
    await store.transaction(async ({ db }) => {
      await db.deleteFrom("memory_vectors").where("space", "=", space).where("written", "<=", last).execute();
    });
    removed += rows.length;
  }
}
