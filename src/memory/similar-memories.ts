import type { SearchContext } from "../search/index.ts";
import type { Store } from "../store/index.ts";
import type { Memory, MemoryDraft } from "./memory.ts";
import { loadMemories } from "./rows.ts";
import { createWordCosine, extractIndexTerms } from "./similarity.ts";

export interface SimilarMemory {
  memory: Memory;
  /** The cosine of the words, and of the vectors (0 without). */
  words: number;
  meaning: number;
  sameFact: boolean;
}

/** A new memory that is compared with the existing ones. */
export interface Candidate {
  draft: MemoryDraft;
  vector?: { space: number; vector: ArrayLike<number> };
}

export interface SimilarOptions {
  limit: number;
  /** Without it only words are compared. */
  embeddings?: SearchContext;
  /** Find only near-duplicates, with at least this cosine of words; fast for any number of memories. */
  duplicatesFrom?: number;
  /** Also consider memories that consist of common words; slower. */
  thorough?: boolean;
  /** Find memories that share one of the rarest words; fast for any number of memories. */
  rarest?: boolean;
}

const lexicalMax = 40;
const rankedMax = 4_000;
const profilesShown = 3;
const relatedMax = 20;
/** The cosines of vectors and of words from which two memories may be about the same fact. */
export const vectorFloor = 0.7;
export const wordFloor = 0.35;

/** The current memories of a scope that are most similar to a candidate, best first. */
export async function findSimilar(
  store: Store,
  scope: string,
  { draft, vector }: Candidate,
  { limit, embeddings, duplicatesFrom, thorough = false, rarest = false }: SimilarOptions,
): Promise<SimilarMemory[]> {
  const all = extractIndexTerms(draft.abstract);
  const words = rarest ? await selectRarest(store, all) : all;
  const found = await (duplicatesFrom === undefined
    ? store.matchMemories({
        scopes: [scope],
        words,
        validAt: Number.MAX_SAFE_INTEGER,
        limit: lexicalMax,
        ...(rarest ? { together: words.map((word) => [word]) } : { rankedMax }),
      })
    : store.matchNearDuplicates({ scope, words, cosine: duplicatesFrom, thorough }));
  const near = (vector && (await embeddings?.memoryVectors?.nearest(vector.vector, lexicalMax, [scope]))) ?? [];
  const meaning = new Map(near.filter((hit) => hit.cosine >= vectorFloor).map((hit) => [hit.id, hit.cosine]));
  const alike = createWordCosine(draft.abstract);
  const byWords = found.filter((hit) => duplicatesFrom === undefined || alike(hit.abstract) >= duplicatesFrom);
  const ids = new Set([
    ...byWords.map((hit) => hit.id),
    ...meaning.keys(),
    ...(await findRelatedIds(store, scope, draft)),
  ]);
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
      sameFact: draft.factKey !== undefined && draft.factKey.replace(/\+$/, "") === row.fact_key?.replace(/\+$/, ""),
    }))
    .filter((one) => !rarest || one.sameFact || one.words >= sharedFrom)
    .sort((a, b) => Number(b.sameFact) - Number(a.sameFact) || getSimilarity(b) - getSimilarity(a))
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

const rarestMax = 3;
/** The cosine of words from which memories that share a rare word are compared. */
const sharedFrom = 0.2;
const commonFrom = 64;

/** The words that the fewest memories contain, without those that no memory contains. */
async function selectRarest(store: Store, words: readonly string[]): Promise<string[]> {
  if (words.length === 0) return [];
  const { counts } = await store.countMemoryWords(words, commonFrom);
  return words
    .map((word, index) => ({ word, count: counts[index] ?? 0 }))
    .filter((one) => one.count > 0)
    .sort((a, b) => a.count - b.count)
    .slice(0, rarestMax)
    .map((one) => one.word);
}

export function getSimilarity({ words, meaning }: Pick<SimilarMemory, "words" | "meaning">): number {
  return Math.max(words, meaning);
}

/** Memories with the same fact key and, for a profile, the latest of the profile, whatever their words. */
async function findRelatedIds(store: Store, scope: string, { factKey, category }: MemoryDraft): Promise<string[]> {
  // A text that says more than the value of its slot has the key of the slot with a plus.
  const plain = factKey?.replace(/\+$/, "");
  const believed = store.db
    .selectFrom("memories")
    .select("id")
    .where("scope", "=", scope)
    .where("invalidated_at", "is", null);
  const sameFact =
    plain === undefined
      ? []
      : await believed
          .where("fact_key", "in", [plain ?? "", `${plain}+`])
          .limit(relatedMax)
          .execute();
  const profiles =
    category === "profile"
      ? await believed.where("category", "=", "profile").orderBy("num", "desc").limit(profilesShown).execute()
      : [];
  return [...sameFact, ...profiles].map((row) => row.id);
}
