import { expect, test } from "vitest";
import { StatementNames } from "./statement-names.ts";

/** The names that ten calls with a text get. */
function listNames(names: StatementNames, text: string): Set<string | undefined> {
  return new Set(Array.from({ length: 10 }, () => names.find(text)));
}

test("a statement that is used again gets a name and keeps it", () => {
  const names = new StatementNames(true);
  expect([...listNames(names, "select 1")]).toEqual([undefined, "varve_1_1"]);
  expect([...listNames(names, "select 1")]).toEqual(["varve_1_1"]);
});

test("without prepared statements, and after an error of a pooler, nothing has a name", () => {
  expect([...listNames(new StatementNames(), "select 1")]).toEqual([undefined]);
  const names = new StatementNames(true);
  listNames(names, "select 1");
  expect(names.learnFrom({ code: "26000" })).toBe(true);
  expect([...listNames(names, "select 1")]).toEqual([undefined]);
});

test("a search for words is planned for its words, so that it has no name", () => {
  const text = "select seq from entry_text where agent = $1 and words @@ phraseto_tsquery('varve', $2) limit $3";
  expect([...listNames(new StatementNames(true), text)]).toEqual([undefined]);
});
