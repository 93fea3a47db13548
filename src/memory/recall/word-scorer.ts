import { detectLanguage } from "../../text/index.ts";
import { prepareWordSets, type WordSets } from "../compare/word-sets.ts";
import { splitSentences } from "../extract/utterances.ts";
import { extractAllTerms } from "../similarity.ts";
import { expandQuery, koreanParticle } from "./expand-query.ts";

const longTerms = 12;
const longCharacters = 200;
const pieceTerms = 2;
const piecesMax = 20;
const coverageWeight = 0.6;
const cosineWeight = 0.4;
const formPrefixLeast = 4;
const formPrefixShare = 0.6;

/** The weights of words that match a query word in another form, or as a synonym. */
export interface WordWeights {
  formWeight: number;
  synonymWeight: number;
}

/** Returns a function that scores how well a memory matches the words of a query, 0 to 1. The query is parsed once. */
export function createWordScorer(
  query: string,
  weights: WordWeights,
): (memory: { abstract: string; content: string }) => number {
  const sets = prepareWordSets(detectLanguage(query));
  const questions = splitQuery(query, sets);
  const synonyms = weights.synonymWeight === 0 ? new Map<string, string[]>() : prepareSynonyms(query, sets);
  return ({ abstract, content }) => {
    const text = content.includes(abstract) ? content : `${abstract}\n${content}`;
    const own = extractContentTerms(text, sets);
    if (own.size === 0) return 0;
    const isPart = createPartMatcher(text, own, sets);
    let best = 0;
    for (const terms of questions) {
      let matched = 0;
      for (const term of terms) {
        matched +=
          matchTerm(term, own, weights.formWeight) ||
          (isPart(term) ? weights.formWeight : 0) ||
          matchSynonym(term, own, isPart);
      }
      if (matched === 0) continue;
      const cosine = matched / Math.sqrt(terms.size * own.size);
      best = Math.max(best, coverageWeight * (matched / terms.size) + cosineWeight * Math.min(1, cosine));
    }
    return best;
  };

  function matchSynonym(term: string, own: ReadonlySet<string>, isPart: (term: string) => boolean): number {
    const isRelated = synonyms.get(term)?.some((other) => matchTerm(other, own, 1) > 0 || isPart(other));
    return isRelated ? weights.synonymWeight : 0;
  }
}

const partLeast = 4;

/**
 * Whether a word is part of a longer one: German joins words ("Lieblingsbuch"), and a segmenter may split the same
 * characters in two ways.
 */
function createPartMatcher(
  text: string,
  own: ReadonlySet<string>,
  { lexicon, segmenter }: WordSets,
): (term: string) => boolean {
  if (segmenter) {
    const plain = text.normalize("NFKC").toLowerCase();
    return (term) => term.length >= 2 && plain.includes(term);
  }
  if (lexicon.code !== "de") return () => false;
  return (term) => term.length >= partLeast && [...own].some((other) => other.startsWith(term) || other.endsWith(term));
}

/** The related words of a query's terms, in the form of terms. */
function prepareSynonyms(query: string, sets: WordSets): Map<string, string[]> {
  const prepared = new Map<string, string[]>();
  for (const [word, others] of expandQuery(query)) {
    const terms = others.flatMap((other) => (sets.segmenter ? [other] : [...extractContentTerms(other, sets)]));
    for (const term of extractContentTerms(word, sets)) prepared.set(term, [...(prepared.get(term) ?? []), ...terms]);
  }
  return prepared;
}

/** The weight of a single character, which is part of many words. */
const singleWeight = 0.4;

function isSingleCharacter(term: string): boolean {
  return term.length === 1 && /\p{L}/u.test(term);
}

/** 1 for the same word, less for another form of it: кошка, кошку. */
function matchTerm(term: string, among: ReadonlySet<string>, formWeight: number): number {
  if (among.has(term)) return isSingleCharacter(term) ? singleWeight : 1;
  if (term.length < formPrefixLeast || /^\d/.test(term)) return 0;
  for (const other of among) {
    if (other.length < formPrefixLeast || other.charCodeAt(0) !== term.charCodeAt(0)) continue;
    let common = 1;
    while (common < term.length && common < other.length && term.charCodeAt(common) === other.charCodeAt(common))
      common += 1;
    if (common >= formPrefixLeast && common >= formPrefixShare * Math.max(term.length, other.length)) return formWeight;
  }
  return 0;
}

/** Splits a long query into itself and its sentences: often only its last sentence asks something. */
function splitQuery(query: string, sets: WordSets): Set<string>[] {
  const whole = extractContentTerms(query, sets);
  if (whole.size <= longTerms && query.length <= longCharacters) return [whole];
  const sentences = splitSentences({ text: query, open: [{ start: 0, end: query.length }] })
    .map(({ start, end }) => extractContentTerms(query.slice(start, end), sets))
    .filter((terms) => terms.size >= pieceTerms);
  return [whole, ...sentences.slice(0, piecesMax / 2), ...sentences.slice(-piecesMax / 2)];
}

const stopped = new Map<string, ReadonlySet<string>>();

/** The words of a language that say nothing about a subject. */
function listStopWords({ lexicon }: WordSets): ReadonlySet<string> {
  const known = stopped.get(lexicon.code);
  if (known) return known;
  const { marks, empty, self, own, others, asking, negations, complements } = lexicon;
  const words = [marks, empty, self, own, others, asking, negations, complements.replaceAll("|", " ")].join(" ");
  // In the form of the terms they are compared with.
  const made = new Set(words.split(" ").flatMap((word) => [word, ...extractAllTerms(word)]));
  stopped.set(lexicon.code, made);
  return made;
}

/** The telling words of a text; all of them when no other is left. */
function extractContentTerms(text: string, sets: WordSets): Set<string> {
  const { segmenter, lexicon } = sets;
  const stopWords = listStopWords(sets);
  const plain = text.normalize("NFKC").toLowerCase();
  let terms: string[];
  if (segmenter) {
    terms = [];
    for (const { segment, isWordLike } of segmenter.segment(plain)) if (isWordLike) terms.push(segment);
  } else if (lexicon.code === "ko") {
    terms = (plain.match(/[\p{L}\p{N}]+/gu) ?? []).flatMap((word) => [word.replace(koreanParticle, "")]);
  } else terms = extractAllTerms(plain);
  return new Set(terms.filter((term) => !stopWords.has(term)));
}
