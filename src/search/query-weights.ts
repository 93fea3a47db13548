import { type EmbeddedQuery, normalise } from "../models/index.ts";
import type { ConversationSpan, Store } from "../store/index.ts";
import { ranking } from "./ranking.ts";
import type { QueryTerm } from "./text/parse-query.ts";
import { extractTerms } from "./text/words.ts";

export interface Statistics {
  /** How many messages there are, and how long they are on average. */
  messages: number;
  averageTokens: number;
  /** How many messages hold each term of the query. */
  frequencies: number[];
}

/** A word that more messages hold than this is common, however many there are. */
const countMax = 50_000;
const keptFor = 60_000;
const keptMax = 5_000;

/** Counts words, and remembers for a while: the same words come again in one conversation. */
export class WordCounts {
  private readonly store: Store;
  private readonly kept = new Map<string, { count: number; of: number; at: number }>();

  constructor(store: Store) {
    this.store = store;
  }

  async statistics(
    agent: string,
    spans: readonly ConversationSpan[] | undefined,
    terms: readonly QueryTerm[],
    now: number,
  ): Promise<Statistics> {
    const conversations = spans?.map((span) => span.conversation);
    const scope = `${agent}\n${conversations?.join(",") ?? "*"}\n`;
    const missing = terms.filter((term) => (this.kept.get(scope + term.phrase)?.at ?? -keptFor) <= now - keptFor);
    const words = missing.map((term) => term.phrase);
    const [counted, averageTokens] = await Promise.all([
      this.store.countText({ agent, conversations, words, countMax }),
      this.averageTokens(agent, conversations),
    ]);
    if (this.kept.size > keptMax) this.kept.clear();
    for (const [index, term] of missing.entries()) {
      this.kept.set(scope + term.phrase, { count: counted.counts[index] ?? 0, of: counted.of, at: now });
    }
    const frequencies = terms.map((term) => this.kept.get(scope + term.phrase)?.count ?? 0);
    return { messages: Math.max(1, counted.of), averageTokens, frequencies };
  }

  private async averageTokens(agent: string, conversations: number[] | undefined): Promise<number> {
    let query = this.store.db
      .selectFrom("conversations")
      .select((eb) => [eb.fn.sum<number>("message_count").as("messages"), eb.fn.sum<number>("tokens").as("tokens")])
      .where("agent", "=", agent);
    if (conversations) query = query.where("id", "in", conversations);
    const row = await query.executeTakeFirst();
    return Number(row?.tokens ?? 0) / Math.max(1, Number(row?.messages ?? 0));
  }
}

/** What each term weighs: its rarity, less for words of asking, more for exact names. */
export function termWeights(terms: readonly QueryTerm[], statistics: Statistics): number[] {
  return terms.map((term, index) => {
    const rarity = inverseFrequency(statistics.messages, statistics.frequencies[index] ?? 0);
    if (term.identifier) return rarity * ranking.identifierWeight;
    return term.asking ? rarity * ranking.askingWeight : rarity;
  });
}

/**
 * Whom a name in the query means is as common as what that person says: a speaker's name is in everything they say,
 * though the text index, which holds only words, does not know it.
 */
export function withSpeakers(
  terms: readonly QueryTerm[],
  statistics: Statistics,
  speakerShare: (term: string) => number,
): Statistics {
  const frequencies = statistics.frequencies.map((count, index) =>
    Math.max(count, speakerShare(terms[index]?.term ?? "") * statistics.messages),
  );
  return { ...statistics, frequencies };
}

/** One token of a query, with how much it counts. */
export interface WeightedToken {
  state: Float32Array;
  weight: number;
}

/** A query's vector and tokens, with the rare words counting for more. */
export interface QueryVector {
  vector: Float32Array;
  tokens: WeightedToken[];
}

/** Weights are those of the query's terms; stop words and punctuation are no terms and count for little. */
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

/** How telling a word is that `df` of `n` documents hold. */
export function inverseFrequency(n: number, df: number): number {
  const held = Math.min(df, n);
  return Math.log(1 + (n - held + 0.5) / (held + 0.5));
}

/** How long a document is against the average; a word in a long one counts for less. */
export function lengthNorm(tokens: number, averageTokens: number): number {
  const { b } = ranking.bm25;
  return 1 - b + b * (tokens / Math.max(1, averageTokens));
}

/** The sum over words of rarity times saturated frequency; frequencies come divided by the length norm already. */
export function bm25(frequencies: ArrayLike<number>, weights: ArrayLike<number>): number {
  const { k1 } = ranking.bm25;
  let score = 0;
  for (let index = 0; index < weights.length; index += 1) {
    const frequency = frequencies[index] ?? 0;
    if (frequency > 0) score += ((weights[index] ?? 0) * frequency * (k1 + 1)) / (frequency + k1);
  }
  return score;
}
