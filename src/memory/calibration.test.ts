/** Calibrates the similarity thresholds with sentences embedded by the bundled model. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { LocalEmbedder } from "../models/index.ts";
import { compareFacts } from "./compare/compare-facts.ts";
import { vectorFloor, wordFloor } from "./similar-memories.ts";
import { computeCosine, computeWordCosine } from "./similarity.ts";

const sameFact = [
  ["The user is vegetarian", "The user does not eat meat"],
  ["Lives in Hamburg since 2019", "Has been living in Hamburg since 2019"],
  ["Her daughter Mia is six years old", "Mia, her daughter, is 6"],
  ["Prefers dark mode in every editor", "Likes all editors with a dark theme"],
  ["The backup runs every night at two", "Every night at two o'clock a backup is made"],
  ["Allergic to peanuts", "Has a peanut allergy"],
  ["Works as a nurse in the city hospital", "She is employed as a nurse at the city hospital"],
  ["The release is planned for Friday", "They plan to release on Friday"],
  ["Plays the cello in an amateur orchestra", "He is a cellist in an amateur orchestra"],
  ["Drinks coffee without sugar", "Takes the coffee unsweetened"],
  ["The car is parked in the garage", "The car stands in the garage"],
  ["Wants answers in short sentences", "Prefers brief replies"],
] as const;

/** The same subject with another value: similar, but not duplicates. */
const otherValue = [
  ["Likes tea", "Likes coffee"],
  ["The cat is black", "The cat is white"],
  ["The server runs in Frankfurt", "The server runs in Dublin"],
  ["Her sister lives in Rome", "Her brother lives in Rome"],
  ["Prefers dark mode in the editor", "Prefers light mode in the editor"],
  ["The deadline is on Monday", "The deadline is on Thursday"],
  ["Plays football on Saturdays", "Plays tennis on Saturdays"],
  ["Allergic to peanuts", "Allergic to cats"],
  ["Uses PostgreSQL for the shop", "Uses SQLite for the shop"],
  ["The meeting was moved to the morning", "The meeting was moved to the evening"],
  ["Wants tests for every change", "Wants no tests for small changes"],
  ["Favourite colour is green", "Favourite colour is red"],
] as const;

const answers = [
  ["What food should I avoid cooking for the guest?", "Allergic to peanuts"],
  ["Which diet does she follow?", "The user is vegetarian"],
  ["Where does he live?", "Lives in Hamburg since 2019"],
  ["What instrument does he play?", "Plays the cello in an amateur orchestra"],
  ["When do we ship?", "The release is planned for Friday"],
  ["What is her job?", "Works as a nurse in the city hospital"],
  ["How does he take his coffee?", "Drinks coffee without sugar"],
  ["Which theme should the IDE have?", "Prefers dark mode in every editor"],
  ["How old is her kid?", "Her daughter Mia is six years old"],
  ["Where did I leave the vehicle?", "The car is parked in the garage"],
  ["When are copies of the data made?", "The backup runs every night at two"],
  ["How long should my replies be?", "Wants answers in short sentences"],
] as const;

const aboutNothing = [
  "Write a haiku about the sea",
  "Fix the failing test in parser.ts",
  "What is the capital of Peru?",
  "Translate this into French: good morning",
  "Explain how TCP slow start works",
  "Make the button blue and centre it",
  "How many litres are in a gallon?",
];

describe("the similarity thresholds", () => {
  const cacheFolder = mkdtempSync(join(tmpdir(), "varve-calibration-"));
  const embedder = new LocalEmbedder({ cacheFolder });
  afterAll(async () => {
    await embedder.close();
    rmSync(cacheFolder, { recursive: true, force: true });
  });
  const textOf = async (text: string) => (await embedder.embed([{ text }]))[0]?.vector ?? [];
  const questionOf = async (text: string) => (await embedder.embedQuery(text)).vector;
  const alike = async (a: string, b: string) => computeCosine(await textOf(a), await textOf(b));

  test("find most paraphrases", async () => {
    const near = await Promise.all(
      sameFact.map(async ([a, b]) => (await alike(a, b)) >= vectorFloor || computeWordCosine(a, b) >= wordFloor),
    );
    expect(near.filter(Boolean).length).toBeGreaterThanOrEqual(10);
  });

  test("never make the rules accept another value as a duplicate, as vectors would", async () => {
    for (const [a, b] of otherValue) expect(compareFacts(a, b).relation).not.toBe("same");
    const byMeaning = await Promise.all(otherValue.map(([a, b]) => alike(a, b)));
    expect(Math.max(...byMeaning)).toBeGreaterThan(0.85);
  });

  test("match most questions with the fact that answers them, and hardly any other", async () => {
    const facts = await Promise.all(answers.map(([, fact]) => textOf(fact)));
    let [found, astray, pairs] = [0, 0, 0];
    for (const [index, [question]] of answers.entries()) {
      const asked = await questionOf(question);
      for (const [place, fact] of facts.entries()) {
        const isNear = computeCosine(asked, fact) >= 0.25;
        if (place === index) found += Number(isNear);
        else [astray, pairs] = [astray + Number(isNear), pairs + 1];
      }
    }
    expect(found).toBeGreaterThanOrEqual(9);
    expect(astray / pairs).toBeLessThan(0.05);
  });

  test("recall nothing for unrelated prompts", async () => {
    const facts = await Promise.all(answers.map(([, fact]) => textOf(fact)));
    for (const prompt of aboutNothing) {
      const asked = await questionOf(prompt);
      expect(Math.max(...facts.map((fact) => computeCosine(asked, fact)))).toBeLessThan(0.3);
    }
  });
});
