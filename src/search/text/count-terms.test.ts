import { expect, test } from "vitest";
import { countTerms, isCountable, TermCounter } from "./count-terms.ts";
import { stem } from "./stem.ts";

const text =
  "Deploying the server: the Server_config of server-7 was deployed twice, by us (A and B), with a dependable deployment.";

test("counting a few terms gives the same as counting all", () => {
  const terms = ["deploi", "server", "config", "7", "b", "depend", "absent"];
  const all = countTerms(text, "");
  const counter = new TermCounter(terms, undefined);
  expect([...counter.inText(text)]).toEqual(terms.map((term) => all.get(term) ?? 0));
  expect([...counter.inTerms(all)]).toEqual([...counter.inText(text)]);
  expect(counter.inText(text)[1]).toBe(3);
});

test("a word and its term share their first two letters", () => {
  const words = "relational abilities hopping flies dies agreed sensibilities conformably oscillators irritant ties";
  for (const word of words.split(" ")) expect([...new TermCounter([stem(word)], undefined).inText(word)]).toEqual([1]);
});

test("a word with the prefix counts as the last term unless the term itself occurs", () => {
  const counter = new TermCounter(["server", "conf"], "conf");
  expect([...counter.inText("The config and the confusion of a server")]).toEqual([1, 2]);
  expect([...counter.inText("conf and config")]).toEqual([0, 1]);
  expect([...counter.inTerms(countTerms("The config and the confusion of a server", ""))]).toEqual([1, 2]);
});

test("texts in other scripts are counted from their extracted terms", () => {
  expect([isCountable("plain text"), isCountable("café"), isCountable("北京")]).toEqual([true, false, false]);
});
