import type { Clock } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";

/** The number of a space in the database; nothing while nothing was embedded in it. */
export async function findSpace(store: Store, name: string): Promise<number | undefined> {
  const row = await store.db.selectFrom("vector_spaces").select("id").where("name", "=", name).executeTakeFirst();
  return row?.id;
}

/** The number of a space, made when this is its first vector. */
export async function makeSpace(store: Store, clock: Clock, name: string): Promise<number> {
  return store.transaction(async ({ db, lock }) => {
    await lock("vector_spaces");
    const found = await db.selectFrom("vector_spaces").select("id").where("name", "=", name).executeTakeFirst();
    if (found) return found.id;
    const last = await db
      .selectFrom("vector_spaces")
      .select((eb) => eb.fn.max("id").as("id"))
      .executeTakeFirst();
    const id = Number(last?.id ?? 0) + 1;
    await db.insertInto("vector_spaces").values({ id, name, created_at: clock.now() }).execute();
    return id;
  });
}
