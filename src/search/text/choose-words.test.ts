import { expect, test } from "vitest";
import { chooseWords } from "./choose-words.ts";

const word = (phrase: string, count: number) => ({ phrase, count, weight: 1 });
const phrases = (choices: ReturnType<typeof chooseWords>) =>
  choices.map(({ words, any }) => [words.map((one) => one.phrase).join(any ? " or " : " and ")]);

test("few entries: every word is asked for", () => {
  expect(phrases(chooseWords([word("b", 20), word("a", 10)], 100, 40))).toEqual([["a or b"]]);
});

test("a common word is left to the scores when a rarer one is there", () => {
  expect(phrases(chooseWords([word("common", 90_000), word("rare", 10)], 100_000, 40))).toEqual([["rare"]]);
});

test("common words alone are asked for together, then the rarest by itself", () => {
  const words = [word("x", 40_000), word("y", 30_000), word("z", 50_000)];
  expect(phrases(chooseWords(words, 100_000, 40))).toEqual([["y and x and z"], ["y and x"], ["y"]]);
});

test("no word, no rows", () => {
  expect(chooseWords([], 100, 40)).toEqual([{ words: [], any: true }]);
});
