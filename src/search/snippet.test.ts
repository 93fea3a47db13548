import { expect, test } from "vitest";
import { makeSnippet } from "./snippet.ts";

test("a short text is its own snippet, on one line", () => {
  expect(makeSnippet("one\n two", new Set())).toBe("one two");
});

test("the snippet of a long text contains the query's words", () => {
  const text = `${"filler words here ".repeat(60)}the lighthouse keeper saw the storm ${"more filler ".repeat(60)}`;
  const snippet = makeSnippet(text, new Set(["lighthous", "storm"]));
  expect(snippet).toContain("lighthouse keeper saw the storm");
  expect(snippet.length).toBeLessThan(260);
  expect(snippet.startsWith("… ") && snippet.endsWith(" …")).toBe(true);
});

test("a text without spaces is truncated too", () => {
  expect(makeSnippet("x".repeat(1000), new Set(["y"])).length).toBeLessThan(260);
});
