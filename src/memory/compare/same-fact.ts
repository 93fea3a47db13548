import { splitSentences } from "../extract/utterances.ts";
import { type Token, tokenise } from "./tokens.ts";
import type { WordSets } from "./word-sets.ts";

export function listSentences(text: string): string[] {
  const spans = splitSentences({ text, open: [{ start: 0, end: text.length }] });
  return spans.map(({ start, end }) => text.slice(start, end));
}

/** Whether two texts say the same: every sentence of one is a sentence of the other, in any order. */
export function areSameTexts(a: readonly string[], b: readonly string[], sets: WordSets): boolean {
  // A sentence of fillers alone ("remember that, please") says nothing.
  const list = (sentences: readonly string[]) =>
    sentences.map((one) => tokenise(one, sets)).filter((tokens) => tokens.length > 0);
  const [mine, others] = [list(a), list(b)];
  if (mine.length !== others.length || mine.length === 0) return false;
  for (const tokens of mine) {
    const at = others.findIndex((other) => areSameTokens(tokens, other));
    if (at === -1) return false;
    others.splice(at, 1);
  }
  return true;
}

/** The same words in the same order, or with one phrase at another place ("on Mondays we meet"). */
function areSameTokens(a: readonly Token[], b: readonly Token[]): boolean {
  if (a.length !== b.length) return false;
  // Punctuation alone says nothing; two such texts are not known to be the same.
  if (a.length === 0) return false;
  const [x, y] = [a.map(({ text }) => text), b.map(({ text }) => text)];
  const prefix = countCommon(x, y);
  if (prefix === x.length) return true;
  if (x.toSorted().join("\n") !== y.toSorted().join("\n")) return false;
  const suffix = countCommon(x.toReversed(), y.toReversed());
  const [from, to] = [x.slice(prefix, x.length - suffix), y.slice(prefix, y.length - suffix)];
  for (let at = 1; at < from.length; at += 1) {
    const moved = [...from.slice(at), ...from.slice(0, at)];
    if (moved.every((word, index) => word === to[index])) return !isSwapOfNames(a.slice(prefix), at, from.length - at);
  }
  return false;
}

/** Two names that changed places are two other roles: "Ann, Bob's boss" is not "Bob, Ann's boss". */
function isSwapOfNames(tokens: readonly Token[], first: number, second: number): boolean {
  return first === 1 && second === 1 && tokens[0]?.kind === "name" && tokens[1]?.kind === "name";
}

function countCommon(a: readonly string[], b: readonly string[]): number {
  let count = 0;
  while (count < a.length && a[count] === b[count]) count += 1;
  return count;
}
