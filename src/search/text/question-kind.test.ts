import { describe, expect, it } from "vitest";
import { parseQuery } from "./parse-query.ts";

describe("a query that asks for help", () => {
  it("is told from one about the past", () => {
    for (const text of [
      "Can you suggest some books?",
      "How do I list my sources?",
      "What should I cook?",
      "Can you order it for me?",
      "Soll ich Tabs nehmen?",
    ]) {
      expect(parseQuery(text).asksForHelp, text).toBe(true);
    }
    for (const text of [
      "What did I say about tabs?",
      "Have I met Ana?",
      "When is my meeting?",
      "Can you give me a summary of my project?",
      "In which order should I list my tools?",
      "pump pressure",
    ]) {
      expect(parseQuery(text).asksForHelp, text).toBe(false);
    }
  });
});

describe("a query that asks for an account", () => {
  it("names the words that an answer must contain", () => {
    expect(parseQuery("What was the atmosphere like at the dinner?").accountTerms).toEqual(["atmospher"]);
    expect(parseQuery("What specific criteria did I use?").accountTerms).toEqual(["criteria"]);
  });

  it("is not one that only contains another form of such a word", () => {
    for (const text of [
      "What motivated Ana to study law?",
      "How did Ana feel after the race?",
      "Who is Ana a fan of in terms of music?",
      "Which decade does the term Belle Époque refer to?",
      "Which method did Ana use to pay?",
    ]) {
      expect(parseQuery(text).accountTerms, text).toEqual([]);
    }
    expect(parseQuery("What are the terms of the contract?").accountTerms).toEqual(["term"]);
  });

  it("is not one for a fact, a number, a summary or help", () => {
    for (const text of [
      "Which days are my classes on?",
      "How many steps did I walk?",
      "Can you give me a summary of the feedback I got?",
      "What steps should I take?",
    ]) {
      expect(parseQuery(text).accountTerms, text).toEqual([]);
    }
  });
});
