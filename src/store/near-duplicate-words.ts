import type { NearDuplicateQuery } from "./port.ts";

/** What a twin holds: at least so many of some words. */
export interface NearDuplicateWords {
  words: string[];
  least: number;
}

/** So few matches are compared one by one sooner than another word is asked for. */
const rowsWanted = 8;
/** Counting further costs time and tells little: a word that so many hold is common. */
export const countedMax = 256;
/** Of a common word so many are looked at, the newest where the index has an order; an older twin may be missed. */
export const heldMax = { quick: 1_000, thorough: 20_000 };
/** So many may be twins and are compared. */
export const nearDuplicatesMax = 200;

/** What says the same has the same figures, and few others have them: nothing else has to be looked for. */
export function countFigures(words: readonly string[]): string[] {
  return words.filter((word) => /\d/.test(word));
}

/**
 * What to look for so that no text as near as a cosine is missed, and few others are found. A text that shares so many
 * of all words can do without some, also of the rarest, but not without more of them. Nothing when too few of the words
 * are known at all.
 */
export function selectNearDuplicateWords(
  { words, cosine }: Pick<NearDuplicateQuery, "words" | "cosine">,
  countOf: (word: string) => number,
): NearDuplicateWords | undefined {
  const figures = countFigures(words);
  if (figures.length > 0) return { words: figures, least: figures.length };
  const known = words
    .map((word) => ({ word, count: countOf(word) }))
    .filter((one) => one.count > 0)
    .sort((a, b) => a.count - b.count);
  const spare = known.length - leastShared(words.length, cosine);
  if (words.length === 0 || spare < 0) return undefined;
  const rows = known.slice(0, spare + 1).reduce((sum, one) => sum + one.count, 0);
  const chosen = known.slice(0, rows <= rowsWanted ? spare + 1 : spare + 2);
  return { words: chosen.map((one) => one.word), least: chosen.length - spare };
}

/** How many words of a text there have to be for the cosine of two bags of words to reach a bound, at the very least. */
function leastShared(words: number, cosine: number): number {
  // The other text holds nothing but the shared ones at best, and then the cosine is the root of their share.
  return Math.max(1, Math.floor(cosine * cosine * words));
}
