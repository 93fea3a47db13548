/** Longer runs of letters are no words; they have no pieces. */
const wordMax = 64;
const cachedWordsMax = 30_000;

const asciiWords = /[a-z0-9]+/g;
/** Chinese characters are words of their own; other scripts are split where letters end. */
const words = /\p{Script=Han}|(?:(?!\p{Script=Han})[\p{L}\p{N}])+/gu;
const notAscii = /[^\p{ASCII}]/u;

/**
 * Splits texts into the tokens of the sentence model, without punctuation, which carries no meaning alone. The pieces of
 * recent words are cached: a conversation repeats its words.
 */
export class WordPieces {
  private readonly places: ReadonlyMap<string, number>;
  private readonly cache = new Map<string, readonly number[]>();

  constructor(places: ReadonlyMap<string, number>) {
    this.places = places;
  }

  /** Calls `visit` with each word and its tokens, in order, until it returns false. */
  forEachWord(text: string, visit: (word: string, tokens: readonly number[]) => boolean | undefined): void {
    const lower = text.toLowerCase();
    const isAscii = !notAscii.test(lower);
    const plain = isAscii ? lower : lower.normalize("NFD").replace(/\p{Mn}+/gu, "");
    const pattern = new RegExp(isAscii ? asciiWords : words);
    for (let match = pattern.exec(plain); match; match = pattern.exec(plain)) {
      if (visit(match[0], this.split(match[0])) === false) return;
    }
  }

  /** The longest known prefix, then the longest known continuations; no tokens when a part is unknown. */
  private split(word: string): readonly number[] {
    const known = this.cache.get(word);
    if (known) return known;
    const tokens = this.match(word);
    if (this.cache.size >= cachedWordsMax) this.cache.clear();
    this.cache.set(word, tokens);
    return tokens;
  }

  private match(word: string): readonly number[] {
    if (word.length > wordMax) return [];
    const tokens: number[] = [];
    for (let start = 0; start < word.length; ) {
      let end = word.length;
      let found: number | undefined;
      for (; end > start && found === undefined; end -= 1) {
        found = this.places.get(start === 0 ? word.slice(0, end) : `##${word.slice(start, end)}`);
      }
      if (found === undefined) return [];
      tokens.push(found);
      start = end + 1;
    }
    return tokens;
  }
}
