import { isStopWord } from "../../domain/index.ts";
import { stem } from "./stem.ts";

/** Scripts written without spaces: every character is a word, and so is every pair of adjacent characters. */
const unspaced =
  /[\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9d\u0e00-\u0e7f]|[\u{20000}-\u{3ffff}]/u;
const wordRun = /[\p{L}\p{M}\p{N}]+/gu;
const beyondAscii = /[^\p{ASCII}]/u;
export const wordLengthMax = 64;

/** Splits a text into words in lower case without accents, stop words included and not stemmed. */
export function splitWords(text: string): string[] {
  const folded = fold(text);
  // Most text is ASCII, for which splitting is three times as fast as matching by Unicode properties.
  if (isAscii(folded)) return splitAsciiWords(folded);
  const found: string[] = [];
  for (const [run] of folded.matchAll(wordRun)) {
    if (unspaced.test(run)) found.push(...splitUnspaced(run));
    else found.push(run.length > wordLengthMax ? run.slice(0, wordLengthMax) : run);
  }
  return found;
}

/** Whether a text is ASCII only. */
export function isAscii(text: string): boolean {
  return !beyondAscii.test(text);
}

function splitAsciiWords(text: string): string[] {
  const found: string[] = [];
  let start = -1;
  for (let at = 0; at <= text.length; at += 1) {
    // Beyond the end the code is NaN, which is no letter.
    const code = text.charCodeAt(at);
    const isPart = (code >= 97 && code <= 122) || (code >= 48 && code <= 57);
    if (isPart && start < 0) start = at;
    else if (!isPart && start >= 0) {
      found.push(text.slice(start, Math.min(at, start + wordLengthMax)));
      start = -1;
    }
  }
  return found;
}

/** The terms of a text: stems without stop words; characters and their pairs for scripts without spaces. */
export function extractTerms(text: string): string[] {
  const terms: string[] = [];
  let before: string | undefined;
  for (const word of splitWords(text)) {
    const alone = word.length <= 2 && isUnspaced(word);
    if (alone && before !== undefined) terms.push(before + word);
    before = alone ? word : undefined;
    const term = normaliseTerm(word);
    if (term !== undefined) terms.push(term);
  }
  return terms;
}

const knownMax = 50_000;
const known = new Map<string, string | null>();

/** The term of a lower-case word; undefined for a stop word. Cached: a few thousand words make up most text. */
export function normaliseTerm(word: string): string | undefined {
  const term = known.get(word);
  if (term !== undefined) return term ?? undefined;
  const made = isStopWord(word) ? null : stem(word);
  if (known.size >= knownMax) known.clear();
  known.set(word, made);
  return made ?? undefined;
}

/** The stems of all words, stop words included, separated by single spaces; phrases are compared in this form. */
export function joinStems(text: string): string {
  return splitWords(text).map(stem).join(" ");
}

/** Whether a word is a character of a script that is written without spaces. */
export function isUnspaced(word: string): boolean {
  return word.length <= 2 && unspaced.test(word);
}

export function fold(text: string): string {
  const lower = text.toLowerCase();
  if (isAscii(lower)) return lower;
  return lower
    .normalize("NFKD")
    .replace(/\p{Mn}/gu, "")
    .normalize("NFC");
}

function splitUnspaced(run: string): string[] {
  const parts: string[] = [];
  let rest = "";
  for (const character of run) {
    if (unspaced.test(character)) {
      if (rest !== "") parts.push(rest);
      rest = "";
      parts.push(character);
    } else rest += character;
  }
  if (rest !== "") parts.push(rest);
  return parts;
}
