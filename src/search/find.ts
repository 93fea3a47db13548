import { parseTimeSpan } from "../text/index.ts";
import { computeAccountShare, computeCertainty, rateConfidence } from "./confidence.ts";
import { addConversationSignals } from "./conversation-signals.ts";
import { isSpeakerName } from "./documents.ts";
import type { EmbeddingTier } from "./embedding/embedding-tier.ts";
import {
  computeLexicalScores,
  computeVectorScores,
  type LexicalScores,
  mergeTiers,
  type VectorScores,
} from "./features.ts";
import {
  addLateInteraction,
  type Candidate,
  compareByScore,
  computeClassicScore,
  fuseTuned,
  normaliseBm25,
  roundScore,
  traceScores,
} from "./fuse.ts";
import type { WeightedToken } from "./query-weights.ts";
import { addSpeakerFrequencies, weighQuery, weighTerms } from "./query-weights.ts";
import { type RankingSettings, ranking } from "./ranking.ts";
import { makeRankingHints } from "./ranking-hints.ts";
import { type Retrieval, retrieve } from "./retrieve.ts";
import { calibrateInstant } from "./retrieve-vectors.ts";
import type { SearchContext } from "./search-context.ts";
import { makeSnippet } from "./snippet.ts";
import { scoreLateInteraction } from "./stages/late-interaction.ts";
import { rerankCandidates } from "./stages/rerank.ts";
import {
  applyDecay,
  applyLengthPenalty,
  applyRecency,
  diversify,
  type FilteredCandidates,
  filterByFinalMinScore,
  filterByMinScore,
  moveNoiseLast,
} from "./stages/stages.ts";
import type { Evidence, FindOptions, Mode, SearchAnswer, SearchResult, StageName } from "./types.ts";
import { dot } from "./vectors/math.ts";

const limitDefault = 10;
const limitMax = 1_000;

/**
 * Runs one search: retrievers collect candidates, fusion scores them, stages filter and reorder them. Every step is
 * traced. It never writes.
 */
export async function find(context: SearchContext, query: string, options: FindOptions): Promise<SearchAnswer> {
  const limit = Math.min(limitMax, Math.max(1, options.limit ?? limitDefault));
  const profile = options.profile ?? "tuned";
  const { settings } = context;
  const steps: NonNullable<SearchAnswer["steps"]> = [];
  let began = performance.now();
  const step = (name: string, candidates: number) => {
    const now = performance.now();
    steps.push({ name, ms: roundScore(now - began), candidates });
    began = now;
  };

  const time = parseTimeSpan(query, context.store.clock.now(), context.timeZone);
  const found = await retrieve(context, query, { ...options, limit });
  for (const { name, ms } of found.took) steps.push({ name, ms: roundScore(ms), candidates: found.candidates.length });
  began = performance.now();
  const { lexical, vector, tokens } = computeScores(found, options.retrievers, settings.bm25);
  const all = found.candidates.map((index) => createCandidate(found, index, lexical, vector));
  let list = all.filter((candidate) => hasEvidence(candidate, lexical, findTier(found, candidate.index)));
  const hints = makeRankingHints(found, time);
  let weightTotal = 1;
  if (profile === "classic") list = fuseClassic(list, limit, settings.classicWeights);
  else weightTotal = fuseTuned(list, lexical, vector, hints, settings.weights);
  traceScores(list, "fusion");
  step("fusion", list.length);

  const cut = [...found.cut];
  const degraded = [...found.degraded];
  const off = new Set<StageName>([
    ...(options.skipStages ?? []),
    ...(profile === "tuned" ? (["length"] as const) : []),
  ]);
  const run = async (name: StageName, work: () => Promise<Candidate[]> | Candidate[]) => {
    if (off.has(name)) return;
    list = await work();
    traceScores(list, name);
    step(name, list.length);
  };
  const { stages } = ranking;
  const [least, hardLeast, same] =
    profile === "classic"
      ? [stages.minScore, stages.hardMinScore, stages.diversity.same]
      : [stages.tunedMinScore, stages.tunedHardMinScore, stages.diversity.tunedSame];
  const drop = ({ remaining, removed }: FilteredCandidates, why: string) => {
    if (removed > 0) cut.push(`${removed} candidates ${why}`);
    return remaining;
  };

  await run("minScore", () => drop(filterByMinScore(list, options.minScore ?? least), "below the minimum score"));
  let late: Map<string, number> | undefined;
  await run("rerank", async () => {
    if (profile !== "classic" && tokens.length > 0) {
      const best = list.toSorted(compareByScore).slice(0, Math.max(ranking.lateInteraction.candidates, 1.5 * limit));
      const scores = await scoreLateInteraction(context, options.agent, found, tokens, best);
      const share = found.embedded ? 1 : ranking.instant.lateShare;
      addLateInteraction(best, weightTotal, scores.own, scores.window, settings.weights, share);
      // The confidence is fitted to the token states of the model.
      if (found.embedded) late = new Map(best.map(({ doc }, index) => [doc.key, scores.window[index] ?? 0]));
    }
    if (profile !== "classic") addConversationSignals(list, found.pool, weightTotal, settings.weights, hints);
    if (!context.reranker || options.noNetwork || list.length === 0) return list;
    const { signal } = options;
    const reranked = await rerankCandidates(context.reranker, query, list, {
      limit,
      weight: settings.rerankWeight,
      hasLate: late !== undefined,
      signal,
    });
    if (reranked.degraded !== undefined) degraded.push(reranked.degraded);
    if (reranked.cut !== undefined) cut.push(reranked.cut);
    return list;
  });
  await run("recency", () => {
    applyRecency(list, context.store.clock.now(), settings);
    return list;
  });
  await run("length", () => {
    applyLengthPenalty(list);
    return list;
  });
  await run("decay", () => {
    applyDecay(list, context.store.clock.now(), settings);
    return list;
  });
  await run("hardMinScore", () =>
    drop(
      filterByFinalMinScore(list, Math.max(options.minScore ?? 0, hardLeast)),
      "below the minimum score after all stages",
    ),
  );
  list.sort(compareByScore);
  await run("noise", () => moveNoiseLast(list));
  await run("diversity", () =>
    diversify(list, { front: 2 * limit, same, lambda: settings.diversityLambda }, (a, b) =>
      computeSimilarity(found, a, b),
    ),
  );
  if (list.length > limit) cut.push(`${list.length - limit} more results beyond the limit of ${limit}`);
  list = list.slice(0, limit);

  const best = list[0];
  const evidence: Evidence | undefined = best && {
    coverage: lexical?.coverage[best.index] ?? 0,
    cosine: best.cosine,
    tier: findTier(found, best.index),
    late: late?.get(best.doc.key),
    account: computeAccountShare(found.parsed.accountTerms, best.doc.text),
  };
  return {
    query,
    mode: describeMode(found, options),
    confidence: rateConfidence(evidence),
    certainty: evidence ? roundScore(computeCertainty(evidence)) : 0,
    results: await toResults(context, options, found, list),
    tiers: [...new Set(list.flatMap(({ index }) => findTier(found, index) ?? []))],
    cut,
    degraded,
    understood: time ? { time } : {},
    ...(options.explain ? { steps, evidence } : {}),
  };
}

/**
 * Whether a candidate matches at all: a query word in it or in a neighbour, or a cosine above chance. The nearest
 * vector always exists, so being nearest is not evidence.
 */
function hasEvidence(
  candidate: Candidate,
  lexical: LexicalScores | undefined,
  tier: EmbeddingTier | undefined,
): boolean {
  if ((lexical?.coverage[candidate.index] ?? 0) > 0) return true;
  const least = tier === "instant" ? ranking.instant.cosineMin : ranking.candidates.cosineMin;
  return (candidate.cosine ?? 0) >= least;
}

/** Computes the lexical and vector scores, with term weights that account for the speakers in the pool. */
function computeScores(
  found: Retrieval,
  retrievers: FindOptions["retrievers"],
  bm25: RankingSettings["bm25"],
): {
  lexical: LexicalScores | undefined;
  vector: VectorScores | undefined;
  tokens: readonly WeightedToken[];
} {
  const { pool, parsed, embedded } = found;
  const statistics = addSpeakerFrequencies(parsed.terms, found.statistics, (term) => computeSpeakerShare(found, term));
  const weights = weighTerms(parsed.terms, statistics);
  const terms = parsed.terms.map((term) => term.term);
  const { averageTokens } = statistics;
  const silent = terms.length === 0 || retrievers?.includes("lexical") === false;
  const lexical = silent
    ? undefined
    : computeLexicalScores(pool, found.candidates, { terms, weights, averageTokens, prefix: parsed.prefix }, bm25);
  const query = embedded && weighQuery(embedded, parsed.terms, weights);
  const model = query && computeVectorScores(pool, found.candidates, query.vector, found.vectorAt);
  const fast = found.instantEmbedded && weighQuery(found.instantEmbedded, parsed.terms, weights);
  const instant = fast && computeVectorScores(pool, found.candidates, fast.vector, found.instantAt);
  return { lexical, vector: mergeTiers(model, instant, calibrateInstant), tokens: (query ?? fast)?.tokens ?? [] };
}

function computeSpeakerShare(found: Retrieval, term: string): number {
  const { docs } = found.pool;
  const count = docs.filter((doc) => isSpeakerName(doc, term)).length;
  return docs.length === 0 ? 0 : count / docs.length;
}

function createCandidate(
  found: Retrieval,
  index: number,
  lexical: LexicalScores | undefined,
  vector: VectorScores | undefined,
): Candidate {
  const doc = found.pool.docs[index];
  if (!doc) throw new Error(`The candidate ${index} is not in the pool.`);
  return {
    doc,
    index,
    sources: found.sources.get(doc.key) ?? ["context"],
    bm25: normaliseBm25(lexical?.own[index] ?? 0),
    cosine: vector?.own[index],
    score: 0,
    ranksLast: false,
    stages: {},
    notes: [],
    features: {},
  };
}

/** `classic` considers only the top results of each retriever. */
function fuseClassic(list: Candidate[], limit: number, weights: RankingSettings["classicWeights"]): Candidate[] {
  const most = Math.max(20, 2 * limit);
  const lexical = list.filter((one) => one.bm25 > 0).sort((a, b) => b.bm25 - a.bm25);
  const vector = list.filter((one) => one.cosine !== undefined).sort((a, b) => (b.cosine ?? 0) - (a.cosine ?? 0));
  const chosen = new Set([...lexical.slice(0, most), ...vector.slice(0, most)]);
  for (const candidate of chosen) candidate.score = computeClassicScore(candidate.bm25, candidate.cosine, weights);
  return [...chosen];
}

function computeSimilarity(found: Retrieval, a: Candidate, b: Candidate): number | undefined {
  for (const vectorAt of [found.vectorAt, found.instantAt]) {
    const [left, right] = [vectorAt(a.index), vectorAt(b.index)];
    if (left && right) return dot(left, right);
  }
  return undefined;
}

function describeMode(found: Retrieval, options: FindOptions): Mode {
  const retrievers = options.retrievers ?? ["lexical", "vector"];
  if (listTiers(found).length === 0) return "lexical";
  return retrievers.includes("lexical") && found.parsed.terms.length > 0 ? "hybrid" : "vector";
}

function listTiers({ embedded, instantEmbedded }: Retrieval): EmbeddingTier[] {
  return [...(embedded ? (["model"] as const) : []), ...(instantEmbedded ? (["instant"] as const) : [])];
}

function findTier(found: Retrieval, index: number): EmbeddingTier | undefined {
  if (found.embedded && found.vectorAt(index)) return "model";
  return found.instantEmbedded && found.instantAt(index) ? "instant" : undefined;
}

async function toResults(
  context: SearchContext,
  options: FindOptions,
  found: Retrieval,
  list: readonly Candidate[],
): Promise<SearchResult[]> {
  const ids = [...new Set(list.flatMap((candidate) => candidate.doc.conversation ?? []))];
  const rows =
    ids.length === 0
      ? []
      : await context.store.db
          .selectFrom("conversations")
          .select(["id", "key"])
          .where("agent", "=", options.agent)
          .where("id", "in", ids)
          .execute();
  const keys = new Map(rows.map((row) => [row.id, row.key]));
  const terms = new Set(found.parsed.terms.map((term) => term.term));
  return list.map(({ doc, index, score: value, sources, notes, stages, features }) => ({
    kind: doc.kind,
    id: doc.id,
    citation: doc.key,
    score: roundScore(value),
    snippet: makeSnippet(doc.text, terms),
    text: doc.text,
    ...(doc.seq === undefined ? {} : { seq: doc.seq }),
    conversation: doc.conversation,
    time: doc.time,
    sessionKey: doc.conversation === null ? null : (keys.get(doc.conversation) ?? null),
    sources,
    tier: findTier(found, index),
    ...(notes.length > 0 ? { notes } : {}),
    ...(options.explain ? { stages, features } : {}),
  }));
}
