import { dropSecrets } from "../domain/index.ts";
import { findSentences } from "../text/index.ts";
import { isConfirmation, readTyped, shortenWords } from "./prose.ts";

const titleWords = 10;
const titleLength = 72;
/** A text of fewer words names nothing: "hello", "are you there". */
const wordsMin = 3;

/** A title from what a person asked: its first words. Undefined when it names nothing. */
export function makeTitle(text: string): string | undefined {
  const { text: typed } = readTyped(dropSecrets(text));
  if (isShort(typed) || isConfirmation(typed) || /^\/\w+$/.test(typed)) return undefined;
  const [first] = findSentences(typed, { start: 0, end: typed.length });
  const sentence = first ? typed.slice(first.start, first.end) : typed;
  const words = shortenWords(isShort(sentence) ? typed : sentence, titleWords);
  const title = words.length <= titleLength ? words : `${words.slice(0, titleLength - 1).toWellFormed()}…`;
  return title.replace(/(?<![\s.,;:，。])[\s.,;:，。]+$/u, "").replace(/^\p{Ll}/u, (first) => first.toUpperCase());
}

/** Scripts without spaces are counted by characters. */
function isShort(text: string): boolean {
  const isWide = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(text);
  return isWide ? text.length < 4 : text.split(" ").length < wordsMin;
}
