import { LRUCache } from "lru-cache";
import { type EmbeddedQuery, normalise } from "../models/index.ts";
import type { ConversationSpan, Store } from "../store/index.ts";
import { ranking } from "./ranking.ts";
import type { QueryTerm } from "./text/parse-query.ts";
import { extractTerms } from "./text/words.ts";

export interface Statistics {
  /** The number of messages, and their average length in tokens. */
  messages: number;
  averageTokens: number;
  /** How many messages contain each term of the query. */
  frequencies: number[];
}

/** Counting stops here: a word in more messages than this is common. */
const countMax = 50_000;
const cacheMs = 60_000;
const cacheMax = 5_000;

/** Counts how many messages contain a word. Counts are cached for a minute: conversations repeat their words. */
export class WordCounts {
  private readonly store: Store;
  private readonly cache = new LRUCache<string, { count: number; at: number }>({ max: cacheMax });

  constructor(store: Store) {
    this.store = store;
  }

  async readStatistics(
    agent: string,
    spans: readonly ConversationSpan[] | undefined,
    terms: readonly QueryTerm[],
    now: number,
  ): Promise<Statistics> {
    const conversations = spans?.map((span) => span.conversation);
    const scope = `${agent}\n${conversations?.join(",") ?? "*"}\n`;
    const missing = terms.filter((term) => (this.cache.get(scope + term.phrase)?.at ?? -cacheMs) <= now - cacheMs);
    const words = missing.map((term) => term.phrase);
    const [counted, averageTokens] = await Promise.all([
      this.store.countText({ agent, conversations, words, countMax }),
      this.readAverageTokens(agent, conversations),
    ]);
    for (const [index, term] of missing.entries()) {
      this.cache.set(scope + term.phrase, { count: counted.counts[index] ?? 0, at: now });
    }
    const frequencies = terms.map((term) => this.cache.get(scope + term.phrase)?.count ?? 0);
    return { messages: Math.max(1, counted.of), averageTokens, frequencies };
  }

  private async readAverageTokens(agent: string, conversations: number[] | undefined): Promise<number> {
    let query = this.store.db
      .selectFrom("conversations")
      .select((eb) => [eb.fn.sum<number>("message_count").as("messages"), eb.fn.sum<number>("tokens").as("tokens")])
      .where("agent", "=", agent);
    if (conversations) query = query.where("id", "in", conversations);
    const row = await query.executeTakeFirst();
    return Number(row?.tokens ?? 0) / Math.max(1, Number(row?.messages ?? 0));
  }
}

/** Weighs terms by inverse document frequency; instruction words weigh less, identifiers more. */
export function weighTerms(terms: readonly QueryTerm[], statistics: Statistics): number[] {
  return terms.map((term, index) => {
    const rarity = computeInverseFrequency(statistics.messages, statistics.frequencies[index] ?? 0);
    if (term.identifier) return rarity * ranking.identifierWeight;
    return term.isInstruction ? rarity * ranking.instructionWeight : rarity;
  });
}

/**
 * Raises the frequency of a speaker's name to the share of messages that they wrote. Their name counts as a word of
 * each of them, but the text index does not contain it.
 */
export function addSpeakerFrequencies(
  terms: readonly QueryTerm[],
  statistics: Statistics,
  speakerShare: (term: string) => number,
): Statistics {
  const frequencies = statistics.frequencies.map((count, index) =>
    Math.max(count, speakerShare(terms[index]?.term ?? "") * statistics.messages),
  );
  return { ...statistics, frequencies };
}

/** One token of a query with its weight. */
export interface WeightedToken {
  state: Float32Array;
  weight: number;
}

/** The vector and tokens of a query, weighted by term rarity. */
export interface QueryVector {
  vector: Float32Array;
  tokens: WeightedToken[];
}

/** Applies the weights of the terms to the query's tokens; stop words and punctuation get `stopWordWeight`. */
export function weighQuery(query: EmbeddedQuery, terms: readonly QueryTerm[], weights: readonly number[]): QueryVector {
  if (!query.words) return { vector: query.vector, tokens: [] };
  const known = new Map(terms.map((term, index) => [term.term, weights[index] ?? 0]));
  const sum = new Float32Array(query.vector.length);
  const tokens: WeightedToken[] = [];
  for (const word of query.words) {
    const [term] = extractTerms(word.text);
    const weight = known.get(term ?? "") ?? ranking.stopWordWeight;
    for (let index = 0; index < sum.length; index += 1) {
      sum[index] = (sum[index] as number) + weight * (word.state[index] as number);
    }
    for (const state of word.tokens) tokens.push({ state, weight });
  }
  const weighted = normalise(sum);
  const mixed = weighted.map((value, index) => value + ranking.plainQueryShare * (query.vector[index] as number));
  return { vector: normalise(mixed), tokens };
}

/** The inverse document frequency of a word that `df` of `n` documents contain. */
function computeInverseFrequency(n: number, df: number): number {
  const documents = Math.min(df, n);
  return Math.log(1 + (n - documents + 0.5) / (documents + 0.5));
}

/** BM25's length normalisation: above 1 for documents longer than the average. */
export function computeLengthNorm(tokens: number, averageTokens: number, b: number): number {
  return 1 - b + b * (tokens / Math.max(1, averageTokens));
}

/** BM25 over the query's terms. Frequencies must already be divided by the length normalisation. */
export function computeBm25(frequencies: ArrayLike<number>, weights: ArrayLike<number>, k1: number): number {
  let score = 0;
  for (let index = 0; index < weights.length; index += 1) {
    const frequency = frequencies[index] ?? 0;
    if (frequency > 0) score += ((weights[index] ?? 0) * frequency * (k1 + 1)) / (frequency + k1);
  }
  return score;
}
