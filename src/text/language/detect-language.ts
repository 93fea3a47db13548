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
  return detectLanguages(text)[0] ?? english;
}

/** The same, with all languages that fit equally well: short texts often fit several. */
export function detectLanguages(text: string): Lexicon[] {
  const sample = text.slice(0, charsRead);
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(sample)) return [japanese];
  if (/\p{Script=Hangul}/u.test(sample)) return [korean];
  if (/\p{Script=Han}/u.test(sample)) return [chinese];
  if (/\p{Script=Cyrillic}/u.test(sample)) return [russian];
  const words = (sample.toLowerCase().match(word) ?? []).map((one) => one.replace("’", "'"));
  const scored = latin.map(({ one, marks }) => ({
    one,
    score: words.filter((each) => marks.has(each)).length + countLetters(one.code, sample),
  }));
  const most = Math.max(...scored.map(({ score }) => score));
  return scored.filter(({ score }) => score === most).map(({ one }) => one);
}

const letters: Readonly<Record<string, RegExp>> = {
  de: /[äöüß]/giu,
  fr: /[çèêùœ]|\b[jldn]['’]/giu,
  es: /[ñ¿¡óíú]/giu,
  it: /[àèìòù](?![\p{L}])|\b(?:dell|un|nell|all)['’]/giu,
  pt: /[ãõâêôç]/giu,
};

/** Letters that one language uses and most of its neighbours do not. */
function countLetters(code: string, text: string): number {
  const pattern = letters[code];
  return pattern ? (text.match(pattern) ?? []).length : 0;
}
