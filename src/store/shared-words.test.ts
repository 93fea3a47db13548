import { expect, test } from "vitest";
import { sharedWords } from "./shared-words.ts";

const counted = (counts: Record<string, number>) => Object.entries(counts).map(([word, count]) => ({ word, count }));

test("what shares nearly all words has one of the rarest", () => {
  const words = counted({ lantern: 3, harbour: 3, keeper: 2, green: 900, light: 800, night: 700 });
  // Four of the six have to be there, so that at most two of the rarest can be missing.
  expect(sharedWords(words, 10_000, 0.85, 40)).toEqual([["keeper"], ["lantern"], ["harbour"]]);
});

test("common words are looked for together", () => {
  const words = counted({ green: 900, light: 800, night: 700, house: 600 });
  const groups = sharedWords(words, 10_000, 0.85, 40);
  expect(groups.every((group) => group.length >= 2)).toBe(true);
  expect(groups.flat()).toContain("house");
});

test("nothing is looked for when too few of the words are known at all", () => {
  expect(sharedWords(counted({ one: 0, two: 0, three: 0, four: 9 }), 100, 0.85, 40)).toEqual([]);
});

test("few groups are kept to, however common the words", () => {
  const words = counted(Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`w${index}`, 5_000])));
  expect(sharedWords(words, 10_000, 0.85, 6).length).toBeLessThanOrEqual(6);
});

test("every text as near as the bound holds one of the groups", () => {
  const vocabulary = Array.from({ length: 14 }, (_, index) => ({ word: `w${index}`, count: 1 + index * 37 }));
  for (let size = 1; size <= vocabulary.length; size += 1) {
    const words = vocabulary.slice(0, size);
    const groups = sharedWords(words, 1_000, 0.85, 40);
    // The text that leaves out as many of the rarest as it may.
    const least = Math.ceil(0.85 * 0.85 * size);
    const held = new Set(words.slice(size - least).map((one) => one.word));
    expect(groups.some((group) => group.every((word) => held.has(word)))).toBe(true);
  }
});
