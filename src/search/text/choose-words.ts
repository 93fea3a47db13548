import { ranking } from "../ranking.ts";

export interface CountedWord {
  phrase: string;
  weight: number;
  /** How many entries hold it. */
  count: number;
}

export interface WordChoice {
  words: CountedWord[];
  /** One is enough; otherwise all must be there. */
  any: boolean;
}

const togetherMax = 3;

/**
 * Which words to ask the text index for, in turn until one brings enough. Ranking every entry that holds a common word
 * costs a tenth of a second for each hundred thousand of them, and finds nothing that the rarer words beside it do not;
 * common words alone are asked for together. All words count in the scores, whichever found an entry.
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
