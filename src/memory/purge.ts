import type { Visibility } from "../authorization/index.ts";
import type { Store, StoreTransaction } from "../store/index.ts";
import type { Memory, MemoryDraft } from "./memory.ts";
import { readHistory } from "./read.ts";
import { computeWordCosine } from "./similarity.ts";

const sameFrom = 0.6;

/** Erases a memory with all versions, vectors, recalls and similar reviews. Returns the ids of the versions. */
export async function purgeMemory(store: Store, visibility: Visibility, id: string): Promise<{ versions: string[] }> {
  return store.transaction(async (tx) => {
    const versions = await readHistory(tx.db, visibility, id);
    const ids = versions.map((one) => one.id);
    const rows = await tx.db.selectFrom("memories").select("num").where("id", "in", ids).execute();
    await tx.removeMemoryText(rows.map((row) => row.num));
    for (const table of ["memory_sources", "memory_support", "memory_relations"] as const) {
      await tx.db.deleteFrom(table).where("memory", "in", ids).execute();
    }
    const nums = rows.map((row) => row.num);
    const scopes = [...new Set(versions.map((one) => one.scope))];
    await tx.db.deleteFrom("memory_vectors").where("scope", "in", scopes).where("num", "in", nums).execute();
    await tx.db.deleteFrom("memory_relations").where("other", "in", ids).execute();
    await tx.db
      .updateTable("memories")
      .set({ supersedes: null })
      .where("supersedes", "in", ids)
      .where("id", "not in", ids)
      .execute();
    // Recorded recall blocks contain its text.
    for (const one of ids) {
      await tx.db.deleteFrom("memory_recalls").where("memories", "like", `%"${one}"%`).execute();
    }
    await purgeReviews(tx, versions);
    await tx.db.deleteFrom("memories").where("id", "in", ids).execute();
    return { versions: ids };
  });
}

/** Removes review candidates that are similar to the memory. */
async function purgeReviews(tx: StoreTransaction, versions: readonly Memory[]): Promise<void> {
  const scopes = [...new Set(versions.map((one) => one.scope))];
  const rows = await tx.db
    .selectFrom("memory_reviews")
    .select(["id", "candidate"])
    .where("scope", "in", scopes)
    .execute();
  for (const row of rows) {
    const { abstract } = JSON.parse(row.candidate) as MemoryDraft;
    if (!versions.some((one) => computeWordCosine(one.abstract, abstract) >= sameFrom)) continue;
    await tx.db.deleteFrom("memory_reviews").where("id", "=", row.id).execute();
  }
}
