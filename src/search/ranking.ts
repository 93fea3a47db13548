import type { Config } from "../config/index.ts";

/** The numbers of the ranking that experts tune, `advanced.search`. */
export type RankingSettings = Config["advanced"]["search"];

/**
 * The other numbers of the ranking. The tuned weights were fitted on four datasets with equal shares and cross-validated by
 * leaving one dataset out at a time; docs/search-quality.md lists the contribution of each.
 */
export const ranking = {
  /** Weight of a word or vector in a neighbouring message, by distance: a single message is often too short to match. */
  windows: { near: [1, 0.5], wide: [1, 0.3, 0.3, 0.3], vector: [1, 0.5, 0.5] },
  /** Weight of words that instruct rather than name the subject: "list", "summary", "mention". */
  instructionWeight: 0.25,
  /**
   * By the number of words in the query: how much more the words of a message count. One or two words are a search for
   * these words; a question is a search for its meaning.
   */
  shortQueryWeights: [0, 1.6, 0.4] as readonly number[],
  /** Weight of a stop word in the query's vector and in late interaction. */
  stopWordWeight: 0.1,
  /** Share of the unweighted query vector that is added to the one weighted by term rarity. */
  plainQueryShare: 0.5,
  /** An exact identifier weighs this many times as much as an ordinary word of the same rarity. */
  identifierWeight: 2,
  lateInteraction: {
    /** How many candidates are compared token by token; at least 1.5 times the limit of the search. */
    candidates: 60,
    /** Factor on the score of a neighbouring message's token. */
    neighbour: 0.9,
    /** Long texts match some token by chance: above this many tokens a penalty grows with the logarithm of the count. */
    freeTokens: 32,
    lengthPenalty: 0.05,
  },
  classic: { strongBm25: 0.75, strongFloor: 0.92, least: 0.1 },
  /** The least number of candidates for each retriever, and how many neighbours of each are loaded on either side. */
  candidates: {
    inConversation: { each: 60, context: 4 },
    everywhere: { each: 30, context: 2 },
    rowsMax: 8_000,
    /** When a query has only common words, this many of the newest matches are ranked. */
    rankedMax: 1_000,
    cosineMin: 0.2,
  },
  /**
   * The line from a cosine of instant vectors to that of the model, and how much more late interaction adds to the best
   * candidates than the other features do. docs/search-quality.md has the measurements.
   */
  instant: {
    slope: 0.93,
    offset: -0.035,
    lateFactor: 1.2,
    /** The share of the weight of late interaction where words are compared instead of the model's token states. */
    lateShare: 0.5,
    /** Cosines by chance are higher than the model's. */ cosineMin: 0.33,
  },
  stages: {
    minScore: 0.3,
    hardMinScore: 0.35,
    /** `tuned` scores are shares of a weighted sum: in a long list correct results have small scores too. */
    tunedMinScore: 0.02,
    tunedHardMinScore: 0.05,
    rerank: { fallbackCosine: 0.3, missingFactor: 0.8, floors: [0.95, 0.9, 0.5], strong: [0.75, 0.6] },
    length: { characters: 500, slope: 0.5, least: 0.3 },
    /** Cosine from which two texts are near-duplicates. Texts on one subject reach 0.85; `tuned` accepts only copies. */
    diversity: { same: 0.85, tunedSame: 0.95 },
  },
  /**
   * Logistic regression that separates answerable questions from questions about another conversation. `account` is what a
   * result loses that does not contain the words by which a question asks for an account of its subject.
   */
  confidence: {
    strong: 0.6,
    weak: 0.25,
    bias: -8.15,
    coverage: 2.12,
    cosine: 7.66,
    late: 7.44,
    wordsOnly: 0.9,
    account: 5,
  },
} as const;
