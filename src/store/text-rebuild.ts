import type { Db, Tx } from "./schema.ts";

/** Stands in the database while the text index is being made anew; what finds it there later knows it was cut off. */
const mark = "text_rebuild";

export async function markRebuild(tx: Tx): Promise<void> {
  await tx
    .insertInto("meta")
    .values({ name: mark, value: "begun" })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .execute();
}

export async function unmarkRebuild(tx: Tx): Promise<void> {
  await tx.deleteFrom("meta").where("name", "=", mark).execute();
}

/** The fault of an index whose rebuild never ended, if it is there. */
export async function unfinishedRebuild(db: Db): Promise<string[]> {
  const row = await db.selectFrom("meta").select("name").where("name", "=", mark).executeTakeFirst();
  return row ? ["full-text index: it was being built anew and that never ended"] : [];
}
