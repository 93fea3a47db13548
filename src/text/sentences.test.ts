import { describe, expect, test } from "vitest";
import { findSentences } from "./sentences.ts";

const split = (text: string) =>
  findSentences(text, { start: 0, end: text.length }).map(({ start, end }) => text.slice(start, end));

describe("sentences end", () => {
  test.each([
    ["I like tea. You like coffee!", ["I like tea.", "You like coffee!"]],
    ["Line one\nLine two", ["Line one", "Line two"]],
    ["我喜欢茶。你呢？", ["我喜欢茶。", "你呢？"]],
    ["I have 3. Then I left.", ["I have 3.", "Then I left."]],
    ["Он пришёл. Она ушла.", ["Он пришёл.", "Она ушла."]],
    ["We met at 5. Ann was late.", ["We met at 5.", "Ann was late."]],
  ])("%s", (text, sentences) => expect(split(text)).toEqual(sentences));
});

describe("a sentence goes on", () => {
  test.each([
    "Die Abgabefrist ist der 10. Mai 2026 um 12 Uhr.",
    "Wir haben das Treffen vom 3. Juni auf den 17. Juni verlegt.",
    "Mein Büro ist im 3. Stock.",
    "Narodil se 3. října v Brně.",
    "Mødet er den 4. maj klokken ni.",
    "Dr. Smith and Mrs. Jones met J. R. Miller.",
    "Version 3.5 costs 2.99 euros, see example.org/a.b for more.",
    "Bring bread, milk etc. and some cheese.",
    "Das ist z.B. ein Apfel bzw. eine Birne.",
    "El Sr. García vive aquí.",
    "It was on Jan. 5 that we met.",
  ])("%s", (text) => expect(split(text)).toEqual([text]));
});
