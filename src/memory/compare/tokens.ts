import type { WordSets } from "./word-sets.ts";

/** A word of a fact in the form that is compared. */
export interface Token {
  text: string;
  kind: "word" | "name" | "number" | "date";
}

export const selfToken = "\u0001self";

const piece =
  /[\p{L}\p{N}_.+-]+@[\p{L}\p{N}.-]+[\p{L}\p{N}]|https?:\/\/\S+|\d+(?:[.,:/-]\d+)*|[\p{L}\p{N}][\p{L}\p{N}_'’./-]*[\p{L}\p{N}]|[\p{L}\p{N}]|[€$£¥₽%]/gu;
const measure = /^(\d+(?:[.,]\d+)?)(\p{L}{1,4}|[%€$£¥])$/u;
const possessive = /['’]s?$/u;

/** The words of a sentence in order, without fillers and empty words; the speaker is one token. */
export function tokenise(sentence: string, sets: WordSets): Token[] {
  const { lexicon } = sets;
  let text = sentence.normalize("NFKC");
  for (const [pattern, long] of lexicon.expansions) text = text.replaceAll(pattern, long);
  text = text.replaceAll(sets.fillers, " ");
  const start = text.search(/\p{L}/u);
  return splitWords(text, sets).flatMap(({ word, at }) => toTokens(word, at === start, sets));
}

interface Word {
  word: string;
  at: number;
}

function splitWords(text: string, { segmenter }: WordSets): Word[] {
  if (!segmenter) return [...text.matchAll(piece)].map((match) => ({ word: match[0], at: match.index }));
  const words: Word[] = [];
  for (const { segment, isWordLike, index } of segmenter.segment(text)) {
    if (!isWordLike) continue;
    const last = words.at(-1);
    // A possessive particle belongs to the word before it: whose it is must not get lost when the order changes.
    if ((segment === "的" || segment === "の") && last) last.word += segment;
    else words.push({ word: segment, at: index });
  }
  return words;
}

function toTokens(word: string, isFirst: boolean, sets: WordSets): Token[] {
  const lower = word.toLowerCase();
  const measured = measure.exec(lower);
  if (measured) return [measured[1] ?? "", measured[2] ?? ""].flatMap((part) => toTokens(part, false, sets));
  const known = sets.synonyms.get(lower) ?? lower;
  if (sets.self.has(known) || sets.self.has(lower)) return [{ text: selfToken, kind: "word" }];
  if (sets.empty.has(known)) return [];
  const figure = sets.numbers.get(known);
  if (figure !== undefined) return [{ text: figure, kind: "number" }];
  if (/^\d/.test(known)) return [{ text: normaliseNumber(known), kind: "number" }];
  if (sets.dates.test(known)) return [{ text: stem(known, sets), kind: "date" }];
  const isName = /^\p{Lu}/u.test(word) && !isFirst;
  return [{ text: isName ? known : stem(known, sets), kind: isName ? "name" : "word" }];
}

/** `1,000` and `1.000` are `1000`; a decimal comma is a point. */
function normaliseNumber(text: string): string {
  return /^\d{1,3}(?:[.,]\d{3})+$/.test(text) ? text.replaceAll(/[.,]/g, "") : text.replace(",", ".");
}

/** Plurals and verb forms in -s are the only endings that change no fact. */
function stem(word: string, { lexicon }: WordSets): string {
  if (lexicon.code !== "en" || word.length < 4 || possessive.test(word)) return fold(word);
  return fold(word.replace(/(?<![su])s$/u, ""));
}

/** Accents are often left out. */
function fold(word: string): string {
  return /^[\p{Script=Latin}\p{N}'’./_-]+$/u.test(word) ? word.normalize("NFD").replaceAll(/\p{M}/gu, "") : word;
}
