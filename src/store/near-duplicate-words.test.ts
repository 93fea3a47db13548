import { expect, test } from "vitest";
import { selectNearDuplicateWords } from "./near-duplicate-words.ts";

const lookup = (counts: Record<string, number>, cosine = 0.85) =>
  selectNearDuplicateWords({ words: Object.keys(counts), cosine }, (word) => counts[word] ?? 0);

test("a text that shares nearly all words contains one of the rarest", () => {
  // Four of the six must be shared, so at most two of the rarest can be missing.
  const counts = { lantern: 3, harbour: 3, keeper: 2, green: 900, light: 800, night: 700 };
  expect(lookup(counts)).toEqual({ words: ["keeper", "lantern", "harbour"], least: 1 });
});

test("when the words are common, two of them are required", () => {
  expect(lookup({ green: 900, light: 800, night: 700, house: 600, room: 500, door: 400 })).toEqual({
    words: ["door", "room", "house", "night"],
    least: 2,
  });
});

test("numbers alone are the query, and all of them are required", () => {
  expect(lookup({ code: 3, "4711": 0, gate: 3, "12": 9 })).toEqual({ words: ["12", "4711"], least: 2 });
});

test("there is no query when too few of the words are indexed", () => {
  expect(lookup({ one: 0, two: 0, three: 0, four: 9 })).toBeUndefined();
  expect(lookup({})).toBeUndefined();
});

test("every text within the cosine bound contains the required number of words", () => {
  for (let size = 1; size <= 14; size += 1) {
    const counts = Object.fromEntries(
      Array.from({ length: size }, (_, index) => [`w${String.fromCharCode(97 + index)}`, 1 + index * 37]),
    );
    // The text that omits as many of the rarest words as the bound allows.
    const held = Object.keys(counts).slice(size - Math.ceil(0.85 * 0.85 * size));
    const wanted = lookup(counts);
    expect(wanted?.words.filter((word) => held.includes(word)).length).toBeGreaterThanOrEqual(wanted?.least ?? 99);
  }
});
