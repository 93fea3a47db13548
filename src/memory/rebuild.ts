import type { Store } from "../store/index.ts";
import { indexedText } from "./write.ts";

const chunk = 500;

/** Makes the text index of memories anew from their rows. */
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
      for (const row of rows) await tx.indexMemory({ scope: row.scope, num: row.num, words: indexedText(row) });
    });
    memories += rows.length;
    last = rows.at(-1)?.num ?? last;
  }
}
