/** Words and sentences, as the reader of work transcripts and the matchers of views count them. */

const stopWords: ReadonlySet<string> = new Set(
  `the and for are was were has have had not but you your our its his her their this that these those with from into
onto then than them they there here what which who when where why how can could would should will shall may might must
about after before again also any all some each more most other only own same such very just too now out off over under
please yes yeah yep yup okay sure thanks thank hello hey continue proceed lets let make made need needs want wants like
get got does did doing done don doesn isn aren won ain didn wasn still even well really actually maybe kind bit one two
him she it's i'm i'll we'll we're that's there's okay alright hmm hmmm lgtm great perfect nice good cool
und der die das den dem des ein eine einen einem einer ist sind war nicht auch aber oder mit von vom zum zur für auf aus
bei nach wie was wer wenn dann noch nur schon bitte danke hallo ich wir ihr sie uns mir mich dir kann können soll sollen
muss müssen werden wird wurde mach machen mal jetzt gut weiter`.split(/\s+/),
);

const wordPattern = /[\p{L}\p{N}_]+/gu;
const ideographs = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+/gu;

/** All words of a text in lower case; runs of Chinese and Japanese characters count as overlapping pairs. */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  for (const [run] of text.toLowerCase().matchAll(wordPattern)) {
    const rest = run.replace(ideographs, (characters) => {
      const list = [...characters];
      if (list.length === 1) words.push(characters);
      for (let at = 0; at + 1 < list.length; at += 1) words.push(`${list[at]}${list[at + 1]}`);
      return " ";
    });
    words.push(...rest.split(" ").filter((word) => word !== ""));
  }
  return words;
}

/** The distinct words that carry meaning: no stop words, at least three letters, or a pair of ideographs. */
export function findContentWords(text: string): string[] {
  const words = splitWords(text).filter((word) => !stopWords.has(word) && (word.length >= 3 || isIdeographic(word)));
  return [...new Set(words)];
}

function isIdeographic(text: string): boolean {
  return /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]{2,}$/u.test(text);
}

/** The sentences of typed text. A line break ends a sentence; a full stop inside a word, path or number does not. */
export function splitTypedSentences(text: string): string[] {
  return text
    .split("\n")
    .flatMap((line) => line.split(/(?<=[.!?…]["')]?)\s+(?=\S)|(?<=[。！？])/u))
    .map((sentence) => sentence.trim())
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
}

/** One line with single spaces, in lower case: the form in which texts are compared. */
export function normaliseText(text: string): string {
  return text.replace(/\s+/g, " ").trim().toLowerCase();
}
