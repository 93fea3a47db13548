import { prepareWordSets } from "../compare/word-sets.ts";
import { detectLanguage } from "../language/detect-language.ts";
import { getRelatedWords } from "../language/related-words.ts";

const queryWords = /\p{L}[\p{L}\p{M}'’-]*/gu;
const wordsMax = 40;
const expansionsMax = 24;

/** Synonyms and related words of the words of a query, by word; only for short queries, as people type them. */
export function expandQuery(query: string): ReadonlyMap<string, readonly string[]> {
  const lexicon = detectLanguage(query);
  const related = getRelatedWords(lexicon.code);
  const plain = query.normalize("NFKC").toLowerCase();
  const { segmenter } = prepareWordSets(lexicon);
  const words = segmenter
    ? [...segmenter.segment(plain)].flatMap(({ segment, isWordLike }) => (isWordLike ? [segment] : []))
    : (plain.match(queryWords) ?? []);
  const expanded = new Map<string, readonly string[]>();
  if (words.length > wordsMax) return expanded;
  let left = expansionsMax;
  for (const word of new Set(words)) {
    const found = related.get(word) ?? [];
    const others = found.filter((other) => !words.includes(other)).slice(0, left);
    if (others.length === 0) continue;
    expanded.set(word, others);
    left -= others.length;
  }
  return expanded;
}
