import { describe, expect, it } from "vitest";
import { isExplicit, parseFact } from "./facts.ts";

describe("a fact is found in", () => {
  it.each([
    ["Please remember that the vault code is 4711.", "entities", "the:vault code"],
    ["Don't forget: we meet on Mondays.", "entities", undefined],
    ["My name is Anna.", "profile", "profile:name"],
    ["Ich heiße Anna.", "profile", "profile:name"],
    ["我叫小明", "profile", "profile:name"],
    ["I'm a software engineer", "profile", "profile:occupation"],
    ["I'm vegan.", "profile", "profile:diet"],
    ["I am allergic to peanuts.", "profile", "profile:allergy"],
    ["I'm from Porto.", "profile", "profile:origin"],
    ["I have two small dogs named Rex and Bo.", "entities", "own:dog"],
    ["I live in Berlin", "entities", "entities:home"],
    ["Actually, I just moved to Lisbon.", "entities", "entities:home"],
    ["I work at Acme", "entities", "entities:employer"],
    ["My favourite colour is blue", "preferences", "favourite:colour"],
    ["我最喜欢的颜色是蓝色", "preferences", "favourite:颜色"],
    ["I prefer tabs for indentation.", "preferences", "prefer for:indentation"],
    ["I really love jazz!", "preferences", "like:jazz"],
    ["I no longer like jazz.", "preferences", "like:jazz"],
    ["我喜欢乌龙茶。", "preferences", "like:乌龙茶"],
    ["From now on, answer in French.", "preferences", undefined],
    ["We'll use Postgres for the database.", "entities", "choice for:database"],
    ["We decided to use SQLite for the database instead.", "entities", "choice for:database"],
    ["We'll use Redis for the cache because it is fast.", "entities", "choice for:cache"],
    ["I love camping, 'cause nature brings peace.", "preferences", "like:camping"],
    ["We decided to ship in March.", "events", undefined],
    ["Wir haben beschlossen, im März zu starten.", "events", undefined],
    ["My dog is called Rex.", "entities", "own:dog"],
    ["The deploy target is now server nine.", "entities", "the:deploy target"],
    ["Correction: the deploy target is server ten.", "entities", "the:deploy target"],
    ["Merk dir bitte, dass die Miete 900 Euro ist.", "entities", undefined],
  ])("%s", (text, category, factKey) => {
    expect(parseFact(text)).toMatchObject({ category, ...(factKey === undefined ? {} : { factKey }) });
    if (factKey === undefined) expect(parseFact(text)?.factKey).toBeUndefined();
  });
});

describe("no fact is found in", () => {
  it.each([
    "What is my name?",
    "Do you remember my name?",
    "Remember to run the tests?",
    "I like it.",
    "I love your answer!",
    "Never mind.",
    "My question is about the index.",
    "My guess is that it fails.",
    "I have two questions about it.",
    "I am from time to time late",
    "Note that this function returns null.",
    "The build fails with an error.",
    `My story is ${"long ".repeat(200)}`,
  ])("%s", (text) => {
    expect(parseFact(text)).toBeUndefined();
  });
});

describe("an explicit request to remember", () => {
  it.each([
    ["Remember: the gate opens at 6", true],
    ["请记住这个", true],
    ["Recuerda que vivo en Madrid", true],
    ["Remember when we met?", false],
    ["I remember that day", false],
  ])("%s: %s", (text, wanted) => {
    expect(isExplicit(text)).toBe(wanted);
  });
});
