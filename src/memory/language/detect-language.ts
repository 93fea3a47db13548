import { chinese } from "./chinese.ts";
import { english } from "./english.ts";
import { french } from "./french.ts";
import { german } from "./german.ts";
import { italian } from "./italian.ts";
import { japanese } from "./japanese.ts";
import { korean } from "./korean.ts";
import type { Lexicon } from "./lexicon.ts";
import { portuguese } from "./portuguese.ts";
import { russian } from "./russian.ts";
import { spanish } from "./spanish.ts";

export const lexicons: readonly Lexicon[] = [
  english,
  german,
  french,
  spanish,
  italian,
  portuguese,
  russian,
  chinese,
  japanese,
  korean,
];

const latin = lexicons.filter((one) => one.marks !== "").map((one) => ({ one, marks: new Set(one.marks.split(" ")) }));
const word = /\p{L}+['’]?/gu;
const charsRead = 600;

/** The lexicon of a text's language, by its script and, in Latin script, by its most frequent words. */
export function detectLanguage(text: string): Lexicon {
  const sample = text.slice(0, charsRead);
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(sample)) return japanese;
  if (/\p{Script=Hangul}/u.test(sample)) return korean;
  if (/\p{Script=Han}/u.test(sample)) return chinese;
  if (/\p{Script=Cyrillic}/u.test(sample)) return russian;
  const words = (sample.toLowerCase().match(word) ?? []).map((one) => one.replace("’", "'"));
  let best = english;
  let most = -1;
  for (const { one, marks } of latin) {
    let count = 0;
    for (const each of words) if (marks.has(each)) count += 1;
    count += countSpecial(one.code, sample);
    if (count > most) [best, most] = [one, count];
  }
  return best;
}

const special: Readonly<Record<string, RegExp>> = {
  de: /[äöüß]/giu,
  fr: /[çèêàùœ]|\b[jldn]['’]/giu,
  es: /[ñ¿¡]/giu,
  it: /\b(?:è|perché|più|dell['’]|un['’])/giu,
  pt: /[ãõ]|ção\b/giu,
};

/** Letters that one language uses and its neighbours do not. */
function countSpecial(code: string, text: string): number {
  const pattern = special[code];
  return pattern ? (text.match(pattern) ?? []).length : 0;
}
