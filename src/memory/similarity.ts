import { LRUCache } from "lru-cache";

/**
 * Similarity of two texts by their words: lower case, without common endings; character pairs in scripts that are
 * written without spaces.
 */
const stopWords = new Set(
  (
    "a an and any are as at be been but by can could did do does for from had has have he her him his how i if in is it its " +
    "me my of on or our she so some that the their them then there they this to was we were what when where which who why " +
    "will with would you your user users about into not " +
    "der die das ein eine einen und oder ist sind ich du er sie es wir ihr mein meine dein im in den dem zu mit von für auf " +
    "le la les un une des et est je tu il elle nous vous mon ma mes de du au en que qui " +
    "el los las una y es yo mi mis tu su con por para del al"
  ).split(" "),
);
const word = /[\p{L}\p{N}][\p{L}\p{N}_'’-]*/gu;
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;
const unspacedRun = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]+/gu;

/** The terms of a text in order, without stop words unless there is nothing else. */
export function extractTerms(text: string): string[] {
  const all = extractAllTerms(text);
  const telling = all.filter((term) => !stopWords.has(term));
  return telling.length > 0 ? telling : all;
}

/** All terms, stop words included. */
export function extractAllTerms(text: string): string[] {
  const plain = text.normalize("NFKC").toLowerCase();
  const terms: string[] = [];
  for (const [match] of plain.matchAll(word)) {
    if (!unspaced.test(match)) {
      terms.push(stem(match.replaceAll("’", "'").replace(/'s$/, "")));
      continue;
    }
    for (const [run] of match.matchAll(unspacedRun)) terms.push(...splitPairs(run));
    for (const rest of match.split(unspacedRun)) if (rest !== "") terms.push(stem(rest));
  }
  return terms;
}

function splitPairs(run: string): string[] {
  const characters = [...run];
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

function stem(term: string): string {
  if (term.length <= 4 || stopWords.has(term)) return term.length === 4 ? term.replace(/s$/, "") : term;
  return term.replace(/(?:ings?|ed|es|s|ly)$/, "").replace(/e$/, "");
}

/** The terms in the form of the text index: a character pair is a phrase of two words. */
export function extractIndexTerms(text: string, max = 40): string[] {
  const plain = text.normalize("NFKC").toLowerCase();
  const words: string[] = [];
  for (const [match] of plain.matchAll(word)) {
    if (unspaced.test(match)) {
      for (const [run] of match.matchAll(unspacedRun))
        words.push(...splitPairs(run).map((pair) => [...pair].join(" ")));
    } else words.push(match);
  }
  const telling = words.filter((one) => !stopWords.has(one));
  const all = [...new Set(telling.length > 0 ? telling : words)];
  // The beginning and end of a long text describe it best.
  return all.length <= max ? all : [...all.slice(0, max / 2), ...all.slice(-max / 2)];
}

/** The cosine of two texts as bags of words. */
export function computeWordCosine(a: string, b: string): number {
  return createWordCosine(a)(b);
}

/** Returns a function that computes the cosine with a text whose terms are extracted once. */
export function createWordCosine(text: string): (other: string) => number {
  const own = createWordVector(text);
  return (other) => computeVectorCosine(own, readWordVector(other));
}

/** Texts that were compared last: a new memory is compared with many that the one before it was compared with too. */
const comparedVectors = new LRUCache<string, WordVector>({ max: 2_000 });
/** Longer texts are not kept, so that the cache stays small. */
const comparedCharsMax = 400;

function readWordVector(text: string): WordVector {
  const known = comparedVectors.get(text);
  if (known) return known;
  const vector = createWordVector(text);
  if (text.length <= comparedCharsMax) comparedVectors.set(text, vector);
  return vector;
}

/** How often a text contains each term, and the length of that vector. */
export interface WordVector {
  counts: ReadonlyMap<string, number>;
  length: number;
}

export function createWordVector(text: string): WordVector {
  const counts = new Map<string, number>();
  for (const term of extractTerms(text)) counts.set(term, (counts.get(term) ?? 0) + 1);
  let squares = 0;
  for (const count of counts.values()) squares += count * count;
  return { counts, length: Math.sqrt(squares) };
}

export function computeVectorCosine(a: WordVector, b: WordVector): number {
  let dot = 0;
  for (const [term, count] of a.counts) dot += count * (b.counts.get(term) ?? 0);
  const lengths = a.length * b.length;
  return lengths === 0 ? 0 : dot / lengths;
}

export function computeCosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [dot, left, right] = [0, 0, 0];
  for (let index = 0; index < a.length; index += 1) {
    const [x, y] = [a[index] ?? 0, b[index] ?? 0];
    dot += x * y;
    left += x * x;
    right += y * y;
  }
  return left === 0 || right === 0 ? 0 : dot / Math.sqrt(left * right);
}

/** The share of a text's distinct terms that another text contains. */
export function computeCoverage(text: string, within: string): number {
  const terms = new Set(extractTerms(text));
  if (terms.size === 0) return 0;
  const contained = new Set(extractAllTerms(within));
  let found = 0;
  for (const term of terms) if (contained.has(term)) found += 1;
  return found / terms.size;
}

const longestTerms = 400;

/** ROUGE-L: the F1 of the longest common subsequence of terms. */
export function computeRougeL(candidate: string, reference: string): number {
  const a = extractTerms(candidate).slice(0, longestTerms);
  const b = extractTerms(reference).slice(0, longestTerms);
  if (a.length === 0 || b.length === 0) return 0;
  let before = new Array<number>(b.length + 1).fill(0);
  for (const term of a) {
    const row = [0];
    for (let index = 0; index < b.length; index += 1) {
      row.push(b[index] === term ? (before[index] ?? 0) + 1 : Math.max(row[index] ?? 0, before[index + 1] ?? 0));
    }
    before = row;
  }
  const common = before[b.length] ?? 0;
  return common === 0 ? 0 : (2 * common) / (a.length + b.length);
}
