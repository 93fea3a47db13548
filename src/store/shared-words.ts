import type { TwinQuery } from "./port.ts";

/** How many words of a text there have to be for the cosine of two bags of words to reach a bound, at the very least. */
function leastShared(words: number, cosine: number): number {
  // The other text holds nothing but the shared ones at best, and then the cosine is the root of their share.
  return Math.max(1, Math.floor(cosine * cosine * words));
}

/** Groups that are expected to match so few are good enough. */
const rowsWanted = 8;
/** Every group costs the index some work: of few groups that are wide, an older text may be missed. */
const groupsMax = { quick: 6, thorough: 40 };
/** Counting further costs time and tells nothing: a word that so many hold is common. */
export const countedMax = 128;
const commonShare = 0.05;
/** More than are expected: words become commoner after they were counted. */
export const twinsMax = 200;

/**
 * The groups of words to look for so that no twin is missed: whoever holds all words of one of them may be one.
 */
export function twinGroups(
  { words, cosine, thorough = false }: Pick<TwinQuery, "words" | "cosine" | "thorough">,
  counts: ReadonlyMap<string, number>,
  of: number,
): string[][] {
  const often = Math.max(countedMax, commonShare * of);
  const counted = words.map((word) => {
    const count = counts.get(word) ?? 0;
    return { word, count: count < countedMax ? count : often };
  });
  return sharedWords(counted, of, cosine, thorough ? groupsMax.thorough : groupsMax.quick);
}

/** Figures are enough to look for, where there are any: what says the same has the same, and few others have them. */
export function figuresOf(words: readonly string[]): string[] {
  return words.filter((word) => /\d/.test(word));
}

export interface Counted {
  word: string;
  count: number;
}

/**
 * Which words to look for so that no text as near as a cosine is missed, and few others are found. A text that shares so
 * many of all words cannot do without all of the rarest: it has one of the rarest few, or two of some more, or three of
 * still more. Nothing when too few of the words are known at all. */
export function sharedWords(words: readonly Counted[], texts: number, cosine: number, groupsMax: number): string[][] {
  const known = words.filter((one) => one.count > 0).sort((a, b) => a.count - b.count);
  const spare = known.length - leastShared(words.length, cosine);
  if (spare < 0) return [];
  let best: Counted[][] = [];
  for (let together = 1; spare + together <= known.length; together += 1) {
    const groups = choose(known.slice(0, spare + together), together);
    if (best.length > 0 && groups.length > groupsMax) break;
    best = groups;
    if (expected(groups, texts) <= rowsWanted) break;
  }
  return best.map((group) => group.map((one) => one.word));
}

/** How many texts would hold all words of one of the groups, if words came independently. */
function expected(groups: readonly (readonly Counted[])[], texts: number): number {
  const share = (one: Counted) => one.count / Math.max(1, texts);
  return groups.reduce((sum, group) => sum + group.reduce((left, one) => left * share(one), texts), 0);
}

/** Every choice of so many out of a list. */
function choose<T>(list: readonly T[], count: number): T[][] {
  if (count === 0) return [[]];
  return list.flatMap((one, index) => choose(list.slice(index + 1), count - 1).map((rest) => [one, ...rest]));
}
