import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseQuery } from "./parse-query.ts";

const terms = (query: string) => parseQuery(query).terms.map((term) => term.term);

describe("a query as a person types it", () => {
  test("stop words go, words become stems, each once", () => {
    expect(terms("When did the dogs run, and the dog?")).toEqual(["dog", "run"]);
  });

  test("a question of stop words only keeps them", () => {
    expect(terms("who are you")).toEqual(["who", "ar", "you"]);
  });

  test("phrases, exclusions and tags are taken out of the words", () => {
    const parsed = parseQuery('"red house" -garden proj:varve roof');
    expect(parsed).toMatchObject({
      required: ["red house"],
      excluded: ["garden"],
      tags: [{ name: "proj", value: "varve" }],
      text: "red house roof",
    });
  });

  test("a title quoted in a sentence is a name, not a demand", () => {
    const parsed = parseQuery('When did he start to read "11/22/63" by Stephen King?');
    expect(parsed.required).toEqual([]);
    expect(parsed.identifiers).toContain("11 22 63");
  });

  test.each(["MAX_RETRY", "JIRA-4711", "src/store/open.ts", "deadbeef1", "package.json"])("%s is a name", (name) => {
    expect(parseQuery(`what is ${name}?`).identifiers).toHaveLength(1);
  });

  test.each(["hello", "well-known", "2023", "it's", "a/"])("%s is none", (word) => {
    expect(parseQuery(word).identifiers).toEqual([]);
  });

  test("a script without spaces is searched by pairs and by characters", () => {
    expect(terms("北京")).toEqual(["北京", "北", "京"]);
    expect(parseQuery("北京").terms[0]?.phrase).toBe("北 京");
  });

  test("words of asking are marked", () => {
    const marked = parseQuery("Please summarize the garden").terms.map(({ term, asking }) => [term, asking]);
    expect(marked).toEqual([
      ["pleas", true],
      ["summar", true],
      ["garden", false],
    ]);
  });

  test("only a person who is still typing leaves a word unfinished", () => {
    expect(parseQuery("red gard", { interactive: true }).prefix).toBe("gard");
    expect(parseQuery("red gard ", { interactive: true }).prefix).toBeUndefined();
    expect(parseQuery("red gard").prefix).toBeUndefined();
  });

  test("whoever asks about themselves is heard", () => {
    expect(parseQuery("What is my plan?").aboutSelf).toBe(true);
    expect(parseQuery("Was ist mein Plan?").aboutSelf).toBe(true);
    expect(parseQuery("What is her plan?").aboutSelf).toBe(false);
  });

  test("no text at all breaks it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), fc.boolean(), (query, interactive) => {
        const parsed = parseQuery(query, { interactive });
        return parsed.terms.every((term) => term.phrase.trim() !== "" && !term.phrase.includes("\u0000"));
      }),
    );
  });
});
