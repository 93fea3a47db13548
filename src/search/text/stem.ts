/**
 * Porter's stemmer (http://tartarus.org/martin/PorterStemmer/). Own code on purpose: it is small, needs no dependency
 * and follows the algorithm of SQLite's `porter` tokenizer, so that counted terms agree with full-text matches there.
 * PostgreSQL's index uses Snowball English, a later variant; both engines rank by the stems computed here.
 */
const consonant = "[^aeiou]";
const vowel = "[aeiouy]";
const consonants = `${consonant}[^aeiouy]*`;
const vowels = `${vowel}[aeiou]*`;
const measureAbove0 = new RegExp(`^(${consonants})?${vowels}${consonants}`);
const measureIs1 = new RegExp(`^(${consonants})?${vowels}${consonants}(${vowels})?$`);
const measureAbove1 = new RegExp(`^(${consonants})?${vowels}${consonants}${vowels}${consonants}`);
const hasVowel = new RegExp(`^(${consonants})?${vowel}`);
const endsShort = new RegExp(`^${consonants}${vowel}[^aeiouwxy]$`);

const step2: readonly [string, string][] = [
  ["ational", "ate"],
  ["tional", "tion"],
  ["enci", "ence"],
  ["anci", "ance"],
  ["izer", "ize"],
  ["logi", "log"],
  ["bli", "ble"],
  ["alli", "al"],
  ["entli", "ent"],
  ["eli", "e"],
  ["ousli", "ous"],
  ["ization", "ize"],
  ["ation", "ate"],
  ["ator", "ate"],
  ["alism", "al"],
  ["iveness", "ive"],
  ["fulness", "ful"],
  ["ousness", "ous"],
  ["aliti", "al"],
  ["iviti", "ive"],
  ["biliti", "ble"],
];
const step3: readonly [string, string][] = [
  ["icate", "ic"],
  ["ative", ""],
  ["alize", "al"],
  ["iciti", "ic"],
  ["ical", "ic"],
  ["ful", ""],
  ["ness", ""],
];
const step4 = /^(.+?)(al|ance|ence|er|ic|able|ible|ant|ement|ment|ent|ou|ism|ate|iti|ous|ive|ize|(?<=[st])ion)$/;

const lengthMin = 3;
const lengthMax = 64;
const cacheMax = 50_000;
const cache = new Map<string, string>();

/** The stem of a lower-case word. Words with other characters than a–z are returned unchanged. */
export function stem(word: string): string {
  const known = cache.get(word);
  if (known !== undefined) return known;
  if (word.length < lengthMin || word.length > lengthMax || !/^[a-z]+$/.test(word)) return word;
  const made = applySteps(word);
  if (cache.size >= cacheMax) cache.clear();
  cache.set(word, made);
  return made;
}

function applySteps(word: string): string {
  // A leading y is a consonant; everywhere else it may be a vowel.
  const guarded = word.startsWith("y") ? `Y${word.slice(1)}` : word;
  let text = stripPlural(guarded);
  text = stripPastTense(text);
  if (text.endsWith("y") && hasVowel.test(text.slice(0, -1))) text = `${text.slice(0, -1)}i`;
  text = replaceSuffix(text, step2);
  text = replaceSuffix(text, step3);
  const found = step4.exec(text);
  if (found?.[1] !== undefined && measureAbove1.test(found[1])) text = found[1];
  return stripFinalE(text).toLowerCase();
}

function stripPlural(text: string): string {
  if (/(ss|i)es$/.test(text)) return text.slice(0, -2);
  if (/[^s]s$/.test(text)) return text.slice(0, -1);
  return text;
}

function stripPastTense(text: string): string {
  if (text.endsWith("eed")) return measureAbove0.test(text.slice(0, -3)) ? text.slice(0, -1) : text;
  const found = /^(.*)(ed|ing)$/.exec(text);
  const base = found?.[1];
  if (base === undefined || !hasVowel.test(base)) return text;
  if (/(at|bl|iz)$/.test(base)) return `${base}e`;
  if (/([^aeiouylsz])\1$/.test(base)) return base.slice(0, -1);
  return endsShort.test(base) ? `${base}e` : base;
}

function replaceSuffix(text: string, rules: readonly [string, string][]): string {
  for (const [suffix, replacement] of rules) {
    if (!text.endsWith(suffix)) continue;
    const base = text.slice(0, -suffix.length);
    return measureAbove0.test(base) ? base + replacement : text;
  }
  return text;
}

function stripFinalE(text: string): string {
  let result = text;
  if (result.endsWith("e")) {
    const base = result.slice(0, -1);
    if (measureAbove1.test(base) || (measureIs1.test(base) && !endsShort.test(base))) result = base;
  }
  return result.endsWith("ll") && measureAbove1.test(result) ? result.slice(0, -1) : result;
}
