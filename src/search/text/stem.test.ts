import { expect, test } from "vitest";
import { stem } from "./stem.ts";
import { extractTerms } from "./words.ts";

test.each([
  ["caresses", "caress"],
  ["ponies", "poni"],
  ["agreed", "agre"],
  ["hopping", "hop"],
  ["filing", "file"],
  ["happy", "happi"],
  ["relational", "relat"],
  ["vietnamization", "vietnam"],
  ["adoption", "adopt"],
  ["controlling", "control"],
  ["yes", "ye"],
  ["sky", "sky"],
  ["über", "über"],
  ["ab", "ab"],
])("%s has the stem %s", (word, expected) => expect(stem(word)).toBe(expected));

test("accents and case do not matter", () => {
  expect(extractTerms("Café CAFÉ cafe")).toEqual(["cafe", "cafe", "cafe"]);
});
