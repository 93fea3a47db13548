import type { InstantEmbedder } from "../../models/index.ts";
import type { WeightedToken } from "../query-weights.ts";
import { dot } from "../vectors/math.ts";
import { computeLengthPenalty } from "./length-penalty.ts";

/** Words of a text beyond this many are not compared. */
const wordsMax = 1_000;

/** Late interaction without a model: compares the words of a query with those of texts by their instant vectors. */
export class WordComparer {
  private readonly embedder: InstantEmbedder;
  private readonly query: readonly WeightedToken[];
  /** The cosines of a word with each word of the query: texts of one conversation share most of their words. */
  private readonly known = new Map<string, Float32Array>();

  constructor(embedder: InstantEmbedder, query: readonly WeightedToken[]) {
    this.embedder = embedder;
    this.query = query;
  }

  /** The highest cosine of each word of the query with any word of a text, minus the penalty for long texts. */
  compare(text: string, speaker?: string): Float32Array {
    const best = new Float32Array(this.query.length);
    const seen = new Set<string>();
    const visit = (word: string, tokens: readonly number[]) => {
      if (tokens.length === 0 || seen.has(word)) return true;
      seen.add(word);
      const cosines = this.compareWord(word, tokens);
      for (let index = 0; index < best.length; index += 1) {
        best[index] = Math.max(best[index] as number, cosines[index] as number);
      }
      return seen.size < wordsMax;
    };
    if (speaker) this.embedder.forEachWord(speaker, visit);
    this.embedder.forEachWord(text, visit);
    const penalty = computeLengthPenalty(seen.size);
    return best.map((value) => value - penalty);
  }

  private compareWord(word: string, tokens: readonly number[]): Float32Array {
    const known = this.known.get(word);
    if (known) return known;
    const vector = this.embedder.embedWord(tokens);
    const cosines = Float32Array.from(this.query, ({ state }) => dot(state, vector));
    this.known.set(word, cosines);
    return cosines;
  }
}
