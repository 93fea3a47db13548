/**
 * Every number the ranking depends on, in one place. The weights of `tuned` were fitted on four datasets at once, each
 * counted alike, and checked by leaving one dataset out at a time: docs/search-quality.md says what each gave.
 */
export const ranking = {
  bm25: { k1: 1.2, b: 0.75 },
  /** How much a word in a neighbour counts, by distance; a turn alone is a poor document. */
  windows: { near: [1, 0.5], wide: [1, 0.3, 0.3, 0.3], vector: [1, 0.5, 0.5] },
  /** Words that say how to answer, not what is asked: "list", "summary", "mention". */
  askingWeight: 0.25,
  /** A stop word in the query's vector and in late interaction. */
  stopWordWeight: 0.1,
  /** The plain mean of the query's tokens beside the one weighted by rarity. */
  plainQueryShare: 0.5,
  /** An exact identifier weighs as much as this many ordinary words of its rarity. */
  identifierWeight: 2,
  lateInteraction: {
    /** How many are compared token by token, or half as many again as are wanted. */
    candidates: 60,
    /** What a neighbour's token counts for. */
    neighbour: 0.9,
    /** The best of many tokens is good by chance: above this many, each doubling costs some. */
    freeTokens: 32,
    lengthPenalty: 0.05,
  },
  tuned: {
    near: 0.04,
    wide: 0.17,
    vector: 0.1,
    vectorWindow: 0.07,
    late: 0.21,
    lateWindow: 0.14,
    speaker: 0.09,
    firstPerson: 0.18,
    time: 0.15,
  },
  classic: { vector: 0.7, bm25: 0.3, strongBm25: 0.75, strongFloor: 0.92, least: 0.1 },
  /** Candidates a leg brings, at least, and how far around each is looked: more where it is cheap. */
  candidates: {
    inConversation: { each: 60, context: 4 },
    everywhere: { each: 30, context: 2 },
    rowsMax: 8_000,
    /** Of the messages that hold only common words of a query, the newest so many are ranked by their words. */
    rankedMax: 1_000,
    cosineMin: 0.2,
  },
  stages: {
    minScore: 0.3,
    hardMinScore: 0.35,
    /** `tuned` scores are shares of a weighted sum; what is left at the end of a long list is small and still right. */
    tunedMinScore: 0.02,
    tunedHardMinScore: 0.05,
    rerank: { weight: 0.6, fallbackCosine: 0.3, kept: 0.8, floors: [0.95, 0.9, 0.5], strong: [0.75, 0.6] },
    recency: { weight: 0.1, days: 14 },
    /** Notes of a day keep at least half of their score. */
    decay: { least: 0.5, days: 60 },
    length: { characters: 500, slope: 0.5, least: 0.3 },
    /** Two texts about one matter are 0.85 alike and may both be wanted; `tuned` takes only near copies for the same. */
    diversity: { lambda: 0.7, same: 0.85, tunedSame: 0.95 },
  },
  /** A logistic regression: answerable questions against questions that another conversation answers. */
  confidence: { strong: 0.6, weak: 0.25, bias: -8.15, coverage: 2.12, cosine: 7.66, late: 7.44, wordsOnly: 0.9 },
} as const;
