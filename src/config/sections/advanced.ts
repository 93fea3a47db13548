import { z } from "zod";

const share = z.number().min(0).max(1);
const weight = z.number().min(0).max(10);
const days = z.number().min(0.01).max(36_500);
const count = z.int().min(0).max(1_000_000);

/** How the ranking signals of a search are combined; docs/search-quality.md tells what each contributes. */
const search = z.strictObject({
  bm25: z
    .strictObject({
      k1: z.number().min(0).max(10).default(1.2).describe("BM25 k1: how fast repeated words saturate."),
      b: share.default(0.75).describe("BM25 b: how strongly long texts are penalised."),
    })
    .prefault({}),
  weights: z
    .strictObject({
      near: weight.default(0.03).describe("Weight of query words in the message and its nearest neighbours."),
      wide: weight.default(0.07).describe("Weight of query words in the wider surroundings of the message."),
      vector: weight.default(0.08).describe("Weight of the cosine between query and message."),
      vectorWindow: weight.default(0.04).describe("Weight of the cosine between query and surrounding messages."),
      late: weight.default(0.12).describe("Weight of late interaction (token by token) with the message."),
      lateWindow: weight.default(0.06).describe("Weight of late interaction with the surrounding messages."),
      speaker: weight.default(0.06).describe("Weight of messages by a speaker whom the query names."),
      firstPerson: weight.default(0.12).describe("Weight of the user's own messages when the query is about the user."),
      firstHand: weight.default(0.05).describe("Weight of messages whose speaker tells of themselves."),
      standing: weight
        .default(0.14)
        .describe("Weight of the user's stated wishes and preferences when the query asks for help."),
      question: weight
        .default(0.02)
        .describe("Penalty for messages that end with a question, in conversations of people."),
      reaction: weight.default(0.03).describe("Penalty for messages of the user that begin with thanks or agreement."),
      time: weight.default(0.19).describe("Weight of a match with a time named in the query."),
      sitting: weight.default(0.15).describe("Weight of the best match in the same sitting: the same subject is near."),
      answer: weight.default(0.03).describe("Weight of the previous message's match when it asks a question."),
    })
    .prefault({}),
  classicWeights: z
    .strictObject({
      vector: weight.default(0.7).describe("Weight of the cosine with search.profile classic."),
      bm25: weight.default(0.3).describe("Weight of BM25 with search.profile classic."),
    })
    .prefault({}),
  rerankWeight: share.default(0.6).describe("Share of the reranker's score in the final score."),
  recencyWeight: share.default(0.1).describe("Maximum bonus for recent results."),
  recencyDays: days.default(14).describe("Time constant of the recency bonus, in days."),
  noteDecayFloor: share.default(0.5).describe("The share of its score that a dated note keeps at any age."),
  noteDecayDays: days.default(60).describe("Time constant of the decay of dated notes, in days."),
  diversityLambda: share
    .default(0.7)
    .describe("Maximal marginal relevance: 1 ranks by score only, 0 by diversity only."),
});

/** How memories fade, change tier and are admitted. */
const memory = z.strictObject({
  decay: z
    .strictObject({
      halfLifeDays: days.default(30).describe("Half-life of a memory of importance 0, in days."),
      dynamicFactor: share.default(1 / 3).describe("Factor on the half-life of memories about changing facts."),
      importanceFactor: z
        .number()
        .min(0)
        .max(10)
        .default(1.5)
        .describe("How strongly importance lengthens the half-life: it is multiplied by e^(factor × importance)."),
      exponents: z
        .strictObject({
          core: weight.default(0.8).describe("Exponent of the decay in the core tier; below 1 fades slower."),
          working: weight.default(1).describe("Exponent of the decay in the working tier."),
          peripheral: weight.default(1.3).describe("Exponent of the decay in the peripheral tier."),
        })
        .prefault({}),
      floors: z
        .strictObject({
          core: share.default(0.9).describe("The least worth that search assumes for the core tier."),
          working: share.default(0.7).describe("The least worth that search assumes for the working tier."),
          peripheral: share.default(0.5).describe("The least worth that search assumes for the peripheral tier."),
        })
        .prefault({}),
      weights: z
        .strictObject({
          recency: weight.default(0.4).describe("Weight of recency in the worth of a memory."),
          frequency: weight.default(0.3).describe("Weight of the frequency of use in the worth of a memory."),
          intrinsic: weight.default(0.3).describe("Weight of importance × confidence in the worth of a memory."),
        })
        .prefault({}),
      staleBelow: share.default(0.3).describe("A memory with less worth than this counts as stale."),
    })
    .prefault({}),
  tiers: z
    .strictObject({
      workingAccesses: count.default(3).describe("Accesses that promote a peripheral memory to the working tier."),
      workingWorth: share.default(0.4).describe("The worth that such a promotion requires."),
      coreAccesses: count.default(10).describe("Accesses that promote a working memory to the core tier."),
      coreWorth: share.default(0.7).describe("The worth that such a promotion requires."),
      coreImportance: share.default(0.8).describe("The importance that such a promotion requires."),
      demoteBelow: share.default(0.15).describe("A memory with less worth than this is demoted."),
      demoteAfterDays: days.default(60).describe("A working memory this old with few accesses is demoted."),
    })
    .prefault({}),
  admission: z
    .strictObject({
      rejectBelow: share
        .optional()
        .describe("Candidates with a lower score are rejected. Default: from memory.admission."),
      admitFrom: share
        .optional()
        .describe("Candidates from this score on are admitted. Default: from memory.admission."),
      weights: z
        .strictObject({
          utility: weight.optional().describe("Weight of usefulness. Default: from memory.admission."),
          confidence: weight
            .optional()
            .describe("Weight of the evidence in the conversation. Default: from memory.admission."),
          novelty: weight
            .optional()
            .describe("Weight of the difference to known memories. Default: from memory.admission."),
          recency: weight
            .optional()
            .describe("Weight of the time since a similar memory. Default: from memory.admission."),
          typePrior: weight.optional().describe("Weight of the category's prior. Default: from memory.admission."),
        })
        .prefault({}),
      typePriors: z
        .strictObject({
          profile: share.optional().describe("How likely a profile is worth keeping. Default: 0.95."),
          preferences: share.optional().describe("How likely a preference is worth keeping. Default: 0.9."),
          entities: share.optional().describe("How likely a fact about a thing is worth keeping. Default: 0.75."),
          events: share.optional().describe("How likely an event is worth keeping. Default: 0.45."),
          cases: share.optional().describe("How likely a solved problem is worth keeping. Default: 0.8."),
          patterns: share.optional().describe("How likely a way of working is worth keeping. Default: 0.85."),
        })
        .prefault({}),
      pool: z
        .int()
        .min(1)
        .max(100)
        .optional()
        .describe("How many similar memories are compared. Default: from memory.admission."),
      halfLifeDays: days
        .optional()
        .describe("Half-life of the recency feature, in days. Default: from memory.admission."),
    })
    .prefault({}),
  recall: z
    .strictObject({
      agreementWeight: share
        .default(0.25)
        .describe("How much the weaker of word match and vector match adds to the stronger one."),
      formWeight: share.default(0.8).describe("Weight of another form of a query word, such as plural."),
      synonymWeight: share.default(0.6).describe("Weight of a synonym of a query word; 0 searches no synonyms."),
      meaningFloor: share.default(0.25).describe("The least relevance of a memory that only vectors find."),
      promptFloor: share.default(0.3).describe("The least relevance of a memory that is added to a prompt unasked."),
      hardFloor: share
        .default(0.05)
        .describe(
          "The least score of a result; when no word match reaches it, the best ones stay and are marked weak.",
        ),
      importanceWeight: share.default(0.3).describe("How much of a score depends on the importance of a memory."),
      expiredFactor: share.default(0.6).describe("Factor on the score of a memory whose event is over."),
      outdatedFactor: share.default(0.5).describe("Factor on the score of a version that is not valid at the time."),
      rerankWeight: share.default(0.6).describe("Share of the reranker's score, when one is configured."),
      diversityLambda: share
        .default(0.7)
        .describe("Maximal marginal relevance: 1 ranks by score only, 0 by diversity only."),
    })
    .prefault({}),
  tentativeDays: days
    .default(30)
    .describe("How many days a doubtful memory waits for a repetition or a review before it is forgotten."),
});

const models = z.strictObject({
  circuitBreakerThreshold: z.int().min(1).default(5).describe("How many consecutive rejected keys pause a model."),
  circuitBreakerCooldownMs: z
    .int()
    .min(0)
    .max(86_400_000)
    .default(1_800_000)
    .describe("How long a model is paused after that many rejected keys, in milliseconds."),
});

/** Numbers that experts tune. The defaults are measured; change one at a time and run `varve bench` again. */
export const advancedSection = z.strictObject({
  search: search.prefault({}),
  memory: memory.prefault({}),
  models: models.prefault({}),
});
