import type { StoreTransaction } from "../store/index.ts";

const chunkRows = 500;

/** Erases versions of memories with their evidence, vectors, relations, and the recorded recalls that quote them. */
export async function eraseMemoryVersions(tx: StoreTransaction, ids: readonly string[]): Promise<void> {
  for (let from = 0; from < ids.length; from += chunkRows) await eraseChunk(tx, ids.slice(from, from + chunkRows));
}

async function eraseChunk(tx: StoreTransaction, ids: readonly string[]): Promise<void> {
  const { db } = tx;
  const rows = await db.selectFrom("memories").select(["num", "scope"]).where("id", "in", ids).execute();
  const nums = rows.map((row) => row.num);
  await tx.removeMemoryText(nums);
  for (const table of ["memory_sources", "memory_support", "memory_relations"] as const) {
    await db.deleteFrom(table).where("memory", "in", ids).execute();
  }
  const scopes = [...new Set(rows.map((row) => row.scope))];
  if (nums.length > 0) {
    await db.deleteFrom("memory_vectors").where("scope", "in", scopes).where("num", "in", nums).execute();
  }
  await db.deleteFrom("memory_relations").where("other", "in", ids).execute();
  for (const column of ["supersedes", "superseded_by"] as const) {
    await db
      .updateTable("memories")
      .set({ [column]: null })
      .where(column, "in", ids)
      .where("id", "not in", ids)
      .execute();
  }
  await removeRecalls(tx, ids);
  await db.deleteFrom("memory_reviews").where("memory", "in", ids).execute();
  await db.deleteFrom("memories").where("id", "in", ids).execute();
}

/** Up to this many ids are searched one by one; more are compared with every recorded recall. */
const searchedMax = 8;

/** Recorded recall blocks contain the text of memories. */
async function removeRecalls({ db }: StoreTransaction, ids: readonly string[]): Promise<void> {
  if (ids.length <= searchedMax) {
    for (const id of ids) await db.deleteFrom("memory_recalls").where("memories", "like", `%"${id}"%`).execute();
    return;
  }
  const erased = new Set(ids);
  const recalls = await db.selectFrom("memory_recalls").select(["agent", "conversation", "seq", "memories"]).execute();
  for (const { agent, conversation, seq, memories } of recalls) {
    if (!(JSON.parse(memories) as string[]).some((id) => erased.has(id))) continue;
    const query = db.deleteFrom("memory_recalls").where("agent", "=", agent).where("conversation", "=", conversation);
    await query.where("seq", "=", seq).execute();
  }
}

/** Everything that the memory keeps in some scopes. */
export async function eraseMemoryScopes(
  tx: StoreTransaction,
  scopes: readonly string[],
): Promise<{ memories: number }> {
  const { db } = tx;
  if (scopes.length === 0) return { memories: 0 };
  const rows = await db.selectFrom("memories").select("id").where("scope", "in", scopes).execute();
  await eraseMemoryVersions(
    tx,
    rows.map(({ id }) => id),
  );
  await db.deleteFrom("memory_reviews").where("scope", "in", scopes).execute();
  await db.deleteFrom("memory_files").where("scope", "in", scopes).execute();
  return { memories: rows.length };
}
