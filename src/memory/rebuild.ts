import type { Store } from "../store/index.ts";
import { makeIndexedText } from "./write.ts";

const chunk = 500;

/** Rebuilds the text index of memories from their rows. */
export async function rebuildMemoryText(store: Store): Promise<{ memories: number }> {
  let memories = 0;
  for (let last = 0; ; ) {
    const rows = await store.db
      .selectFrom("memories")
      .select(["num", "scope", "abstract", "overview", "content"])
      .where("num", ">", last)
      .orderBy("num")
      .limit(chunk)
      .execute();
    if (rows.length === 0) return { memories };
    await store.transaction(async (tx) => {
      for (const row of rows) await tx.indexMemory({ scope: row.scope, num: row.num, words: makeIndexedText(row) });
    });
    memories += rows.length;
    last = rows.at(-1)?.num ?? last;
  }
}
