import { extractTerms, isAscii, normaliseTerm, wordLengthMax } from "./words.ts";

/** Terms are counted up to this many characters; the text index covers the rest. */
const countedCharactersMax = 40_000;

/** The frequency of each term of a text and of its names (speaker, headings, path). */
export function countTerms(text: string, names: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const term of extractTerms(text.slice(0, countedCharactersMax))) counts.set(term, (counts.get(term) ?? 0) + 1);
  for (const term of extractTerms(names)) counts.set(term, (counts.get(term) ?? 0) + 1);
  return counts;
}

/** Whether `TermCounter.inText` can count in a text: ASCII only. This is faster than extracting all terms. */
export function isCountable(text: string): boolean {
  return isAscii(text.slice(0, countedCharactersMax));
}

/**
 * Counts a few terms in many texts. A word and its stem share their first two letters, so only words that begin like a
 * term are stemmed.
 */
export class TermCounter {
  private readonly places: ReadonlyMap<string, number>;
  private readonly size: number;
  private readonly prefix: string | undefined;
  /** Indexed by the first two characters; a term of one character accepts any second one. */
  private readonly begins = new Uint8Array(128 * 128);

  constructor(terms: readonly string[], prefix: string | undefined) {
    this.places = new Map(terms.map((term, index) => [term, index]));
    this.size = terms.length;
    this.prefix = prefix;
    for (const term of prefix === undefined ? terms : [...terms, prefix]) this.note(term);
  }

  /** The frequency of each term in an ASCII text. A word that starts with the prefix counts as the last term. */
  inText(text: string): Float64Array {
    const counts = new Float64Array(this.size);
    let beginning = 0;
    const end = Math.min(text.length, countedCharactersMax);
    for (let at = 0, start = -1; at <= end; at += 1) {
      const isPart = at < end && isWordCode(text.charCodeAt(at));
      if (isPart && start < 0) start = at;
      if (isPart || start < 0) continue;
      if (this.mayCount(text, start, at)) {
        const term = normaliseTerm(text.slice(start, Math.min(at, start + wordLengthMax)).toLowerCase());
        const place = term === undefined ? undefined : this.places.get(term);
        if (place !== undefined) counts[place] = (counts[place] as number) + 1;
        if (this.prefix !== undefined && term?.startsWith(this.prefix)) beginning += 1;
      }
      start = -1;
    }
    return this.withBeginning(counts, beginning);
  }

  /** The same for a text whose terms are already counted. */
  inTerms(terms: ReadonlyMap<string, number>): Float64Array {
    const counts = new Float64Array(this.size);
    for (const [term, place] of this.places) counts[place] = terms.get(term) ?? 0;
    let beginning = 0;
    if (this.prefix !== undefined && counts.at(-1) === 0) {
      for (const [term, times] of terms) if (term.startsWith(this.prefix)) beginning += times;
    }
    return this.withBeginning(counts, beginning);
  }

  private withBeginning(counts: Float64Array, beginning: number): Float64Array {
    if (counts.at(-1) === 0) counts[counts.length - 1] = beginning;
    return counts;
  }

  private note(term: string): void {
    const [first, second] = [term.charCodeAt(0), term.charCodeAt(1)];
    if (!(first < 128)) return;
    if (Number.isNaN(second)) this.begins.fill(1, first * 128, (first + 1) * 128);
    else if (second < 128) this.begins[first * 128 + second] = 1;
  }

  private mayCount(text: string, start: number, end: number): boolean {
    const second = end - start > 1 ? toLowerCode(text.charCodeAt(start + 1)) : 0;
    return this.begins[toLowerCode(text.charCodeAt(start)) * 128 + second] === 1;
  }
}

function isWordCode(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57);
}

function toLowerCode(code: number): number {
  return code >= 65 && code <= 90 ? code + 32 : code;
}
