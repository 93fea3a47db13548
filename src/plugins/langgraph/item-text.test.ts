import { expect, test } from "vitest";
import { matchesFilter, readItemText } from "./item-text.ts";

const item = { title: "Pump", meta: { by: "Ann" }, parts: [{ text: "one" }, { text: "two" }], tags: ["a", "b"] };

test.each([
  [["title"], "Pump"],
  [["meta.by", "tags[0]"], "Ann\na"],
  [["parts[*].text"], "one\ntwo"],
  [["parts[-1].text"], "two"],
  [["{title,meta.by}"], "Pump\nAnn"],
  [["meta.*"], "Ann"],
  [["none", "title.none", "tags[9]", "["], ""],
])("the text at %j", (paths, text) => {
  expect(readItemText(item, paths)).toBe(text);
});

test("the text of everything has the names of the fields", () => {
  expect(readItemText({ a: 1, b: { c: "x" } })).toBe("a: 1\nb: c: x");
});

test.each([
  [3, 3, true],
  [3, { $gte: 3, $lt: 4 }, true],
  [3, { $gt: 3 }, false],
  ["a", { $in: ["a", "b"] }, true],
  ["a", { $nin: ["a"] }, false],
  ["a", { $ne: "b" }, true],
  ["a", { other: 1 }, false],
])("%j with the filter %j", (value, filter, expected) => {
  expect(matchesFilter(value, filter)).toBe(expected);
});
