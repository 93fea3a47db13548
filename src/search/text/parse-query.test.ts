import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseQuery } from "./parse-query.ts";

const terms = (query: string) => parseQuery(query).terms.map((term) => term.term);

describe("parseQuery", () => {
  test("removes stop words, stems words and removes duplicates", () => {
    expect(terms("When did the dogs run, and the dog?")).toEqual(["dog", "run"]);
  });

  test("keeps stop words when there is nothing else", () => {
    expect(terms("who are you")).toEqual(["who", "ar", "you"]);
  });

  test("separates phrases, exclusions and tags from the words", () => {
    const parsed = parseQuery('"red house" -garden proj:varve roof');
    expect(parsed).toMatchObject({
      required: ["red house"],
      excluded: ["garden"],
      tags: [{ name: "proj", value: "varve" }],
      text: "red house roof",
    });
  });

  test("a title quoted in a sentence is an identifier, not a required phrase", () => {
    const parsed = parseQuery('When did he start to read "11/22/63" by Stephen King?');
    expect(parsed.required).toEqual([]);
    expect(parsed.identifiers).toContain("11 22 63");
  });

  test.each(["MAX_RETRY", "JIRA-4711", "src/store/open.ts", "deadbeef1", "package.json"])(
    "%s is an identifier",
    (name) => {
      expect(parseQuery(`what is ${name}?`).identifiers).toHaveLength(1);
    },
  );

  test.each(["hello", "well-known", "2023", "it's", "a/"])("%s is not an identifier", (word) => {
    expect(parseQuery(word).identifiers).toEqual([]);
  });

  test("a script without spaces is searched by characters and their pairs", () => {
    expect(terms("北京")).toEqual(["北京", "北", "京"]);
    expect(parseQuery("北京").terms[0]?.phrase).toBe("北 京");
  });

  test("instruction words are marked", () => {
    const marked = parseQuery("Please summarize the garden").terms.map(({ term, isInstruction }) => [
      term,
      isInstruction,
    ]);
    expect(marked).toEqual([
      ["pleas", true],
      ["summar", true],
      ["garden", false],
    ]);
  });

  test("the last word is a prefix only in an interactive search", () => {
    expect(parseQuery("red gard", { interactive: true }).prefix).toBe("gard");
    expect(parseQuery("red gard ", { interactive: true }).prefix).toBeUndefined();
    expect(parseQuery("red gard").prefix).toBeUndefined();
  });

  test("recognises questions in the first person", () => {
    expect(parseQuery("What is my plan?").aboutSelf).toBe(true);
    expect(parseQuery("Was ist mein Plan?").aboutSelf).toBe(true);
    expect(parseQuery("What is her plan?").aboutSelf).toBe(false);
  });

  test("never throws", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), fc.boolean(), (query, interactive) => {
        const parsed = parseQuery(query, { interactive });
        return parsed.terms.every((term) => term.phrase.trim() !== "" && !term.phrase.includes("\u0000"));
      }),
    );
  });
});
