import { type EmbeddedQuery, normalise } from "../models/index.ts";
import { ranking } from "./ranking.ts";
import type { QueryTerm } from "./text/parse-query.ts";
import { extractTerms } from "./text/words.ts";
import type { WeightedToken } from "./vectors/late.ts";

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
