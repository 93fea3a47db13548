import { describe, expect, it } from "vitest";
import { previewFacts } from "./rules.ts";
import { splitClauses } from "./split-clauses.ts";

describe("a compound sentence", () => {
  it.each([
    ["I live in Ghent and my sister lives in Lille.", ["I live in Ghent", "my sister lives in Lille."]],
    ["I like tea and coffee.", ["I like tea and coffee."]],
    ["Ich wohne in Kiel und mein Hund heißt Rex.", ["Ich wohne in Kiel", "mein Hund heißt Rex."]],
    ["我住在上海，我喜欢茶。", ["我住在上海", "我喜欢茶。"]],
  ])("%s", (text, clauses) => {
    const spans = splitClauses(text, { start: 0, end: text.length });
    expect(spans.map(({ start, end }) => text.slice(start, end))).toEqual(clauses);
  });

  it("gives one fact for each clause, and none for advice", () => {
    expect(previewFacts("I live in Ghent and I work at Acme.")).toEqual(["I live in Ghent.", "I work at Acme."]);
    expect(previewFacts("Always keep your hair nourished.")).toEqual([]);
  });
});
