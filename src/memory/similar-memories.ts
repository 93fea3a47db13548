import type { SearchContext } from "../search/index.ts";
import type { Store } from "../store/index.ts";
import type { Memory, MemoryDraft } from "./memory.ts";
import { loadMemories } from "./rows.ts";
import { indexTerms, likenessTo } from "./similarity.ts";

export interface SimilarMemories {
  memory: Memory;
  /** How alike the words are, and how alike the meaning where there are vectors: cosines. */
  words: number;
  meaning: number;
  sameFact: boolean;
}

/** What a candidate is compared by. */
export interface Candidate {
  draft: MemoryDraft;
  vector?: { space: number; vector: ArrayLike<number> };
}

export interface SimilarOptions {
  limit: number;
  /** Absent: words alone are compared. */
  embeddings?: SearchContext;
  /** Only what shares nearly all of its words is wanted; that is found at once among any number. */
  duplicatesFrom?: number;
  /** Also among memories that share nothing but common words with many others, which takes longer. */
  thorough?: boolean;
}

const lexicalMax = 40;
const rankedMax = 4_000;
const profilesShown = 3;
/** From where on meaning says that two memories may be about the same; words say it from lower on. */
export const vectorFloor = 0.7;
export const wordFloor = 0.35;

/** The memories of a scope that are believed now and nearest to a candidate, the nearest first. */
export async function findSimilar(
  store: Store,
  scope: string,
  { draft, vector }: Candidate,
  { limit, embeddings, duplicatesFrom, thorough = false }: SimilarOptions,
): Promise<SimilarMemories[]> {
  const words = indexTerms(draft.abstract);
  const found = await (duplicatesFrom === undefined
    ? store.matchMemories({ scopes: [scope], words, validAt: Number.MAX_SAFE_INTEGER, limit: lexicalMax, rankedMax })
    : store.matchNearDuplicates({ scope, words, cosine: duplicatesFrom, thorough }));
  const near = (vector && (await embeddings?.memoryVectors?.nearest(vector.vector, lexicalMax, [scope]))) ?? [];
  const meaning = new Map(near.filter((hit) => hit.cosine >= vectorFloor).map((hit) => [hit.id, hit.cosine]));
  const alike = likenessTo(draft.abstract);
  const byWords = found.filter((hit) => duplicatesFrom === undefined || alike(hit.abstract) >= duplicatesFrom);
  const ids = new Set([...byWords.map((hit) => hit.id), ...meaning.keys(), ...(await related(store, scope, draft))]);
  if (ids.size === 0) return [];
  const rows = await store.db
    .selectFrom("memories")
    .selectAll()
    .where("id", "in", [...ids])
    .where("scope", "=", scope)
    .where("invalidated_at", "is", null)
    .execute();
  const scored = rows
    .map((row) => ({
      row,
      words: alike(row.abstract),
      meaning: meaning.get(row.id) ?? 0,
      sameFact: draft.factKey !== undefined && draft.factKey === row.fact_key,
    }))
    .sort((a, b) => Number(b.sameFact) - Number(a.sameFact) || likeness(b) - likeness(a))
    .slice(0, limit);
  const memories = await loadMemories(
    store.db,
    scored.map((one) => one.row),
  );
  return memories.flatMap((memory, index) => {
    const one = scored[index];
    return one ? [{ memory, words: one.words, meaning: one.meaning, sameFact: one.sameFact }] : [];
  });
}

export function likeness({ words, meaning }: Pick<SimilarMemories, "words" | "meaning">): number {
  return Math.max(words, meaning);
}

/** What is about the same by its key, and what a profile belongs to, however little the words have in common. */
async function related(store: Store, scope: string, { factKey, category }: MemoryDraft): Promise<string[]> {
  const believed = store.db
    .selectFrom("memories")
    .select("id")
    .where("scope", "=", scope)
    .where("invalidated_at", "is", null);
  const sameFact = factKey === undefined ? [] : await believed.where("fact_key", "=", factKey).execute();
  const profiles =
    category === "profile"
      ? await believed.where("category", "=", "profile").orderBy("num", "desc").limit(profilesShown).execute()
      : [];
  return [...sameFact, ...profiles].map((row) => row.id);
}
