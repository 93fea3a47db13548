import { foldAccents, type WordSets } from "./word-sets.ts";

/** A word of a fact in the form that is compared. */
export interface Token {
  text: string;
  /** The word without the particle that marks its role. */
  root: string;
  kind: "word" | "name" | "number" | "date";
}

export const selfToken = "\u0001self";
export const ownToken = "\u0001own";

const piece =
  /(?<![\p{L}\p{N}_.+-])[\p{L}\p{N}_.+-]+@[\p{L}\p{N}.-]+[\p{L}\p{N}]|https?:\/\/\S+|\d+(?:[.,:/-]\d+)*|[\p{L}\p{N}][\p{L}\p{N}_'’./-]*[\p{L}\p{N}]|[\p{L}\p{N}]|[€$£¥₽%]/gu;
const measure = /^(\d+(?:[.,]\d+)?)(\p{L}{1,4}|[%€$£¥])$/u;
const possessive = /['’]s?$/u;

/** The words of a sentence in order, without fillers and empty words; the speaker is one token. */
export function tokenise(sentence: string, sets: WordSets): Token[] {
  const { lexicon } = sets;
  let text = sentence.normalize("NFKC").replaceAll(sets.fillers, " ");
  for (const [pattern, long] of lexicon.expansions) text = text.replaceAll(pattern, long);
  text = text.replaceAll(sets.fillers, " ");
  const start = text.search(/\p{L}/u);
  return splitWords(text, sets).flatMap(({ word, at }) => toTokens(word, at === start, sets));
}

const particles = new Set("的 の は が を に で へ と も から".split(" "));
const koreanParticle = /(?<=\p{L})(?:에서|에게|으로|은|는|이|가|을|를|에|로|의|와|과|도|만)$/u;
const japaneseParticle = /(?<=.)(?:から|の|は|が|を|に|で|へ|と|も)$/u;

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
    // A particle belongs to the word before it: who does what to whom must not get lost when the order changes.
    if (particles.has(segment) && last) last.word += segment;
    else words.push({ word: segment, at: index });
  }
  return words;
}

function toTokens(word: string, isFirst: boolean, sets: WordSets): Token[] {
  const lower = word.toLowerCase();
  const measured = measure.exec(lower);
  if (measured) return [measured[1] ?? "", measured[2] ?? ""].flatMap((part) => toTokens(part, false, sets));
  const owner = possessive.exec(lower)?.[0] ?? "";
  const bare = lower.slice(0, lower.length - owner.length);
  const known = `${sets.synonyms.get(bare) ?? bare}${owner}`;
  const root = stripParticle(known, sets);
  if (sets.own.has(known)) return [createToken(ownToken, "word")];
  if (sets.self.has(known) || sets.self.has(root)) return [createToken(selfToken, "word")];
  if (sets.empty.has(known)) return [];
  const figure = sets.numbers.get(known);
  if (figure !== undefined) return [createToken(figure, "number")];
  if (/^\d/.test(known)) return [createToken(normaliseNumber(known), "number")];
  if (sets.dates.test(known)) return [createToken(stem(known, sets), "date", stem(root, sets))];
  const isName = /^\p{Lu}/u.test(word) && !isFirst;
  return [isName ? createToken(known, "name", root) : createToken(stem(known, sets), "word", stem(root, sets))];
}

function createToken(text: string, kind: Token["kind"], root = text): Token {
  return { text, kind, root };
}

function stripParticle(word: string, { lexicon, synonyms }: WordSets): string {
  if (lexicon.code !== "ko" && lexicon.code !== "ja") return word;
  const bare = word.replace(lexicon.code === "ko" ? koreanParticle : japaneseParticle, "");
  return synonyms.get(bare) ?? bare;
}

/** `1,000` and `1.000` are `1000`; a decimal comma is a point. */
function normaliseNumber(text: string): string {
  return /^\d{1,3}(?:[.,]\d{3})+$/.test(text) ? text.replaceAll(/[.,]/g, "") : text.replace(",", ".");
}

/** Plurals and verb forms in -s are the only endings that change no fact. */
function stem(word: string, { lexicon }: WordSets): string {
  if (lexicon.code !== "en" || word.length < 4 || possessive.test(word)) return foldAccents(word);
  return foldAccents(word.replace(/(?<![su])s$/u, ""));
}
