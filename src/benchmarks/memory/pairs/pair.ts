/** Two facts about one thing, the known one first. */
export type Pair = readonly [known: string, stated: string];

/**
 * Pairs of a language by their relation. `same`: the second repeats the first. `update`: it takes the place of the
 * first. `different`: both hold. `conflict`: one of them is wrong, but nothing says which.
 */
export interface LanguagePairs {
  language: string;
  same: readonly Pair[];
  update: readonly Pair[];
  different: readonly Pair[];
  conflict: readonly Pair[];
}
