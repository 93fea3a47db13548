import { expect, test } from "vitest";
import { InstantEmbedder } from "../../models/index.ts";
import { WordComparer } from "./word-comparer.ts";

const embedder = new InstantEmbedder();

async function compare(query: string, text: string, speaker?: string): Promise<number[]> {
  const { words = [] } = await embedder.embedQuery(query);
  const tokens = words.flatMap((word) => word.tokens.map((state) => ({ state, weight: 1 })));
  return [...new WordComparer(embedder, tokens).compare(text, speaker)];
}

test("a word of the query is found as it is, as a similar word, or not at all", async () => {
  const [dog, invoice] = await compare("dog invoice", "The puppy barked at the invoice.");
  expect(invoice).toBeCloseTo(1, 5);
  expect(dog).toBeGreaterThan(0.4);
  const [unrelated] = await compare("dog", "The committee approved it.");
  expect(unrelated).toBeLessThan(0.4);
});

test("the name of the speaker is a word of the text", async () => {
  const [without] = await compare("Melanie", "I painted a sunrise.");
  const [named] = await compare("Melanie", "I painted a sunrise.", "Melanie");
  expect(named).toBeCloseTo(1, 5);
  expect(without).toBeLessThan(0.9);
});

test("a text with many different words is penalised, an empty one matches nothing", async () => {
  const many = Array.from({ length: 300 }, (_, index) => `word${index}`).join(" ");
  expect((await compare("dog", `dog ${many}`))[0]).toBeLessThan(0.95);
  expect(await compare("dog", "")).toEqual([0]);
});
