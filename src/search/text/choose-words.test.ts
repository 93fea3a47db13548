import { expect, test } from "vitest";
import { chooseWords } from "./choose-words.ts";

const word = (phrase: string, count: number) => ({ phrase, count, weight: 1 });
const phrases = (choices: ReturnType<typeof chooseWords>) =>
  choices.map(({ words, any }) => [words.map((one) => one.phrase).join(any ? " or " : " and ")]);

test("with few entries all words are queried", () => {
  expect(phrases(chooseWords([word("b", 20), word("a", 10)], 100, 40))).toEqual([["a or b"]]);
});

test("a common word is not queried when a rarer one exists", () => {
  expect(phrases(chooseWords([word("common", 90_000), word("rare", 10)], 100_000, 40))).toEqual([["rare"]]);
});

test("common words are combined with AND, and the rarest is queried last", () => {
  const words = [word("x", 40_000), word("y", 30_000), word("z", 50_000)];
  expect(phrases(chooseWords(words, 100_000, 40))).toEqual([["y and x and z"], ["y and x"], ["y"]]);
});

test("no word, no rows", () => {
  expect(chooseWords([], 100, 40)).toEqual([{ words: [], any: true }]);
});
