import { ranking } from "../ranking.ts";

export interface CountedWord {
  phrase: string;
  weight: number;
  /** How many entries contain it. */
  count: number;
}

export interface WordChoice {
  words: CountedWord[];
  /** True: one match is enough. False: all words must match. */
  any: boolean;
}

const togetherMax = 3;

/**
 * Which words to query the text index with: the choices are tried in turn until one finds enough. Ranking every entry
 * with a common word costs 0.1 s for each 100,000 of them and finds nothing that the rarer words do not; when all words
 * are common they are combined with AND. The scores use all words, whichever of them found an entry.
 */
export function chooseWords(
  words: readonly CountedWord[],
  entries: number,
  wanted: number,
  rowsMax: number = ranking.candidates.rowsMax,
): WordChoice[] {
  const rarest = words.toSorted((a, b) => a.count - b.count);
  let rows = 0;
  const rare = rarest.filter((word) => {
    rows += word.count;
    return rows <= rowsMax;
  });
  if (rare.length > 0 || rarest.length === 0) return [{ words: rare, any: true }];
  const choices: WordChoice[] = [];
  for (let count = Math.min(togetherMax, rarest.length); count > 1; count -= 1) {
    const chosen = rarest.slice(0, count);
    const expected = chosen.reduce((left, word) => left * (word.count / Math.max(1, entries)), entries);
    if (expected >= wanted) choices.push({ words: chosen, any: false });
  }
  return [...choices, { words: rarest.slice(0, 1), any: true }];
}
