import { expect, test } from "vitest";
import { isSimilarName } from "./similar-names.ts";

test("spellings of one name are similar", () => {
  for (const [a, b] of [
    ["muhammad", "muhhamed"],
    ["mohamed", "muhammad"],
    ["faheem", "fahim"],
    ["carolina", "caroline"],
    ["anneliese", "annelise"],
  ] as const) {
    expect(isSimilarName(a, b), `${a} ${b}`).toBe(true);
  }
});

test("other names, short words and other scripts are not", () => {
  for (const [a, b] of [
    ["akib", "akim"],
    ["tim", "tom"],
    ["john", "jane"],
    ["evan", "ivan"],
    ["maria", "martha"],
    ["мария", "мариа"],
    ["x1z2k3", "x1z2k3"],
  ] as const) {
    expect(isSimilarName(a, b), `${a} ${b}`).toBe(false);
  }
});
