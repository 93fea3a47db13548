import type { Store } from "../store/index.ts";
import type { Memory, MemoryDraft } from "./memory.ts";
import { memoriesOf } from "./rows.ts";
import { cosine, indexTerms, wordCosine } from "./similarity.ts";
import { decodeVector } from "./write.ts";

export interface Near {
  memory: Memory;
  /** A cosine: of vectors where both have one, of words otherwise. */
  similarity: number;
  sameFact: boolean;
}

/** What a candidate is compared by. */
export interface Candidate {
  draft: MemoryDraft;
  vector?: { model: string; vector: ArrayLike<number> };
}

/** Vectors that are looked through at most, the newest first. */
const scannedMax = 20_000;
const lexicalMax = 40;
/** From where on vectors say that two memories may be about the same; words alone say it from lower on. */
export const vectorFloor = 0.7;
export const wordFloor = 0.35;

/** The memories of a scope that are believed now and nearest to a candidate, the nearest first. */
export async function nearest(store: Store, scope: string, candidate: Candidate, limit: number): Promise<Near[]> {
  const { draft, vector } = candidate;
  const words = indexTerms(draft.abstract);
  const hits = await store.matchMemories({
    scopes: [scope],
    words,
    validAt: Number.MAX_SAFE_INTEGER,
    limit: lexicalMax,
  });
  const byVector = vector ? await vectorsOf(store, scope, vector) : new Map<string, number>();
  const ids = new Set([...hits.map((hit) => hit.id), ...byVector.keys()]);
  let query = store.db
    .selectFrom("memories")
    .selectAll()
    .where("scope", "=", scope)
    .where("invalidated_at", "is", null);
  query = query.where((where) =>
    where.or([
      ...(ids.size > 0 ? [where("id", "in", [...ids])] : []),
      where("fact_key", "=", draft.factKey ?? "\u0001"),
    ]),
  );
  const memories = await memoriesOf(store.db, await query.execute());
  return memories
    .map((memory) => ({
      memory,
      similarity: Math.max(byVector.get(memory.id) ?? 0, wordCosine(draft.abstract, memory.abstract)),
      sameFact: draft.factKey !== undefined && draft.factKey === memory.factKey,
    }))
    .sort((a, b) => Number(b.sameFact) - Number(a.sameFact) || b.similarity - a.similarity)
    .slice(0, limit);
}

async function vectorsOf(
  store: Store,
  scope: string,
  { model, vector }: { model: string; vector: ArrayLike<number> },
): Promise<Map<string, number>> {
  const rows = await store.db
    .selectFrom("memory_vectors")
    .innerJoin("memories", "memories.id", "memory_vectors.memory")
    .select(["memory_vectors.memory", "memory_vectors.vector"])
    .where("memories.scope", "=", scope)
    .where("memories.invalidated_at", "is", null)
    .where("memory_vectors.model", "=", model)
    .orderBy("memories.num", "desc")
    .limit(scannedMax)
    .execute();
  const scored = rows.map((row): [string, number] => [row.memory, cosine(decodeVector(row.vector), vector)]);
  return new Map(
    scored
      .filter(([, similarity]) => similarity >= vectorFloor)
      .sort((a, b) => b[1] - a[1])
      .slice(0, lexicalMax),
  );
}
