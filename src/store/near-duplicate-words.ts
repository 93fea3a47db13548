import type { NearDuplicateQuery } from "./port.ts";

/** A candidate must contain at least `least` of `words`. */
export interface NearDuplicateTerms {
  words: string[];
  least: number;
}

/** Comparing this few rows one by one is cheaper than adding another word to the query. */
const rowsWanted = 8;
/** Counting stops here: a word in this many memories is common. */
export const countedMax = 256;
/** Rows examined for a common word, the newest where the index is ordered; an older near-duplicate may be missed. */
export const examinedMax = { quick: 1_000, thorough: 20_000 };
/** Candidates that are compared at most. */
export const nearDuplicatesMax = 200;

/** Near-duplicates contain the same numbers and few other memories do, so numbers alone are a sufficient query. */
export function selectNumbers(words: readonly string[]): string[] {
  return words.filter((word) => /\d/.test(word));
}

/**
 * Selects query words so that every text within the cosine bound is found, and few others. Such a text shares most
 * words, so it can miss `spare` of the rarest ones but no more. Returns `undefined` when too few of the words are
 * indexed for any text to qualify.
 */
export function selectNearDuplicateWords(
  { words, cosine }: Pick<NearDuplicateQuery, "words" | "cosine">,
  countWord: (word: string) => number,
): NearDuplicateTerms | undefined {
  const figures = selectNumbers(words);
  if (figures.length > 0) return { words: figures, least: figures.length };
  const known = words
    .map((word) => ({ word, count: countWord(word) }))
    .filter((one) => one.count > 0)
    .sort((a, b) => a.count - b.count);
  const spare = known.length - countSharedMin(words.length, cosine);
  if (words.length === 0 || spare < 0) return undefined;
  const rows = known.slice(0, spare + 1).reduce((sum, one) => sum + one.count, 0);
  const chosen = known.slice(0, rows <= rowsWanted ? spare + 1 : spare + 2);
  return { words: chosen.map((one) => one.word), least: chosen.length - spare };
}

/** A lower bound on the shared words of two bags of words with at least this cosine. */
function countSharedMin(words: number, cosine: number): number {
  // At best the other text contains only shared words; then the cosine is the square root of their share.
  return Math.max(1, Math.floor(cosine * cosine * words));
}
