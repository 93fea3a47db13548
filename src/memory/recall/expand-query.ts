import { detectLanguage, getRelatedWords } from "../../text/index.ts";
import { prepareWordSets } from "../compare/word-sets.ts";

export const koreanParticle =
  /(?<=\p{L})(?:에서|에게|으로|은|는|이|가|을|를|에|로|의|와|과|도|만|이에요|예요|입니다)$/u;
const queryWords = /\p{L}[\p{L}\p{M}'’-]*/gu;
const wordsMax = 40;
const expansionsMax = 24;

/** Synonyms and related words of the words of a query, by word; only for short queries, as people type them. */
export function expandQuery(query: string): ReadonlyMap<string, readonly string[]> {
  const lexicon = detectLanguage(query);
  const related = getRelatedWords(lexicon.code);
  const plain = query.normalize("NFKC").toLowerCase();
  const { segmenter } = prepareWordSets(lexicon);
  const segments = segmenter ? new Set(Array.from(segmenter.segment(plain), ({ segment }) => segment)) : undefined;
  // A segmenter may split a word in two; a single character counts only where it is a word of its own.
  const found = segments
    ? [...related.keys()].filter((word) => (word.length > 1 ? plain.includes(word) : segments.has(word)))
    : (plain.match(queryWords) ?? []);
  const words = lexicon.code === "ko" ? found.map((word) => word.replace(koreanParticle, "")) : found;
  const expanded = new Map<string, readonly string[]>();
  if (words.length > wordsMax) return expanded;
  let left = expansionsMax;
  for (const word of new Set(words)) {
    const others = (related.get(word) ?? []).filter((other) => !words.includes(other)).slice(0, left);
    if (others.length === 0) continue;
    expanded.set(word, others);
    left -= others.length;
  }
  return expanded;
}
