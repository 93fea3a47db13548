import type { Store } from "../../store/index.ts";

/** A space is never removed and keeps its id, so it is looked up once. */
const knownSpaces = new WeakMap<Store["db"], Map<string, number>>();

/** The id of a space in the database; undefined while nothing is embedded in it. */
export async function findSpace(store: Store, name: string): Promise<number | undefined> {
  const known = knownSpaces.get(store.db) ?? new Map<string, number>();
  knownSpaces.set(store.db, known);
  const id = known.get(name);
  if (id !== undefined) return id;
  const row = await store.db.selectFrom("vector_spaces").select("id").where("name", "=", name).executeTakeFirst();
  if (row) known.set(name, row.id);
  return row?.id;
}

/** The id of a space, created when this is its first vector. */
export async function createSpace(store: Store, name: string): Promise<number> {
  return store.transaction(async ({ db, lock }) => {
    await lock("vector_spaces");
    const found = await db.selectFrom("vector_spaces").select("id").where("name", "=", name).executeTakeFirst();
    if (found) return found.id;
    const last = await db
      .selectFrom("vector_spaces")
      .select((eb) => eb.fn.max("id").as("id"))
      .executeTakeFirst();
    const id = Number(last?.id ?? 0) + 1;
    await db.insertInto("vector_spaces").values({ id, name, created_at: store.clock.now() }).execute();
    return id;
  });
}
