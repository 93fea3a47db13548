import type { Store } from "../store/index.ts";
import type { Memory, MemoryDraft } from "./memory.ts";
import { memoriesOf } from "./rows.ts";
import { sharedWords } from "./shared-words.ts";
import type { MemoryShelf } from "./shelf.ts";
import { indexTerms, likenessTo } from "./similarity.ts";

export interface Near {
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

export interface NearOptions {
  limit: number;
  /** Absent: words alone are compared. */
  shelf?: MemoryShelf;
  /** Only what shares nearly all of its words is wanted; that is found at once among any number. */
  twinsFrom?: number;
  /** Also among memories that share nothing but common words with many others, which takes longer. */
  thorough?: boolean;
}

const groupsMax = { quick: 6, thorough: 40 };

const lexicalMax = 40;
/** Counting further costs time and tells nothing: a word that so many hold is common. */
const countMax = 128;
const commonShare = 0.05;
const rankedMax = 4_000;
const profilesShown = 3;
/** From where on meaning says that two memories may be about the same; words say it from lower on. */
export const vectorFloor = 0.7;
export const wordFloor = 0.35;

/** The memories of a scope that are believed now and nearest to a candidate, the nearest first. */
export async function nearest(
  store: Store,
  scope: string,
  { draft, vector }: Candidate,
  { limit, shelf, twinsFrom, thorough = false }: NearOptions,
): Promise<Near[]> {
  const words = indexTerms(draft.abstract);
  const together = twinsFrom === undefined ? undefined : await groupsOf(store, words, twinsFrom, thorough);
  const base = { scopes: [scope], words, validAt: Number.MAX_SAFE_INTEGER, limit: lexicalMax, rankedMax };
  const found = together?.length === 0 ? [] : await store.matchMemories({ ...base, ...(together ? { together } : {}) });
  const near = vector && shelf ? await shelf.nearest(vector.vector, lexicalMax, [scope]) : [];
  const meaning = new Map(near.filter((hit) => hit.cosine >= vectorFloor).map((hit) => [hit.id, hit.cosine]));
  const alike = likenessTo(draft.abstract);
  const byWords = found.filter((hit) => twinsFrom === undefined || alike(hit.abstract) >= twinsFrom);
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
  const memories = await memoriesOf(
    store.db,
    scored.map((one) => one.row),
  );
  return memories.flatMap((memory, index) => {
    const one = scored[index];
    return one ? [{ memory, words: one.words, meaning: one.meaning, sameFact: one.sameFact }] : [];
  });
}

export function likeness({ words, meaning }: Pick<Near, "words" | "meaning">): number {
  return Math.max(words, meaning);
}

async function groupsOf(
  store: Store,
  words: readonly string[],
  cosine: number,
  thorough: boolean,
): Promise<string[][]> {
  if (words.length === 0) return [];
  // What says the same has the same figures, and few others have them.
  const figures = words.filter((word) => /\d/.test(word));
  if (figures.length > 0) return [figures];
  const open = words.filter((word) => !common.has(word));
  const { counts, of } = await store.countMemoryWords(open, countMax);
  const known = new Map(open.map((word, index) => [word, counts[index] ?? 0]));
  for (const [word, count] of known) if (count >= countMax) common.add(word);
  if (common.size > commonMax) common.clear();
  const often = Math.max(countMax, commonShare * of);
  const counted = words.map((word) => {
    const count = known.get(word) ?? countMax;
    return { word, count: count < countMax ? count : often };
  });
  return sharedWords(counted, of, cosine, thorough ? groupsMax.thorough : groupsMax.quick);
}

/** Words that were common once: they stay so, and are not counted again. */
const common = new Set<string>();
const commonMax = 20_000;

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
