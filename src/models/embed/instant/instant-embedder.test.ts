import { Tokenizer } from "@huggingface/tokenizers";
import { expect, test } from "vitest";
import { loadMiniLm } from "../minilm-model.ts";
import { InstantEmbedder } from "./instant-embedder.ts";
import { formatTokenTable, loadTokenTable, parseTokenTable } from "./token-table.ts";
import { WordPieces } from "./word-pieces.ts";

const embedder = new InstantEmbedder();

function cosine(a: string, b: string): number {
  const [left, right] = [embedder.embedNow({ text: a }).vector, embedder.embedNow({ text: b }).vector];
  return left.reduce((sum, value, index) => sum + value * (right[index] as number), 0);
}

test.each([
  ["The dog barked all night.", "A noisy puppy kept us awake.", "The invoice was paid in March."],
  ["Our server crashed after the deployment.", "The release broke production.", "She bakes bread on Sundays."],
  ["I moved to Berlin last year.", "He lives in Germany now.", "The recipe needs two eggs."],
])("%s is nearer to %s than to %s", (text, near, far) => {
  expect(cosine(text, near)).toBeGreaterThan(cosine(text, far) + 0.1);
});

test("a vector has length one, also with the name of a speaker; a text without words has none", () => {
  const { vector } = embedder.embedNow({ text: "Hello world", speaker: "Ann" });
  expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
  expect(Math.hypot(...embedder.embedNow({ text: "?! …" }).vector)).toBe(0);
});

test("a very long text is cut and says so; the next text is not affected", async () => {
  const [long, short] = await embedder.embed([{ text: "stone ".repeat(5_000) }, { text: "a small stone" }]);
  expect(long?.cut).toBe(true);
  expect(short?.cut).toBeUndefined();
  expect(short?.vector).toEqual(embedder.embedNow({ text: "a small stone" }).vector);
});

test("words are split into the tokens of the sentence model", () => {
  const { tokenizer } = loadMiniLm("/nonexistent/cache");
  const model = new Tokenizer({ ...tokenizer, truncation: null, padding: null }, {});
  const { places } = loadTokenTable();
  const pieces = new WordPieces(places);
  const names = [...places.keys()];
  for (const text of [
    "Unbelievably tokenised Übergrößen café",
    "refactorings of kubernetes 2026",
    "東京 tower",
    "naïve",
  ]) {
    const found: string[] = [];
    pieces.forEachWord(text, (_, tokens) => {
      for (const token of tokens) found.push(names[token] as string);
      return true;
    });
    expect(found).toEqual(model.encode(text, { add_special_tokens: false }).tokens);
  }
});

test("a table comes back from its stored form, and a damaged file is refused with a remedy", () => {
  const bytes = formatTokenTable(["stone", "##s"], 2, Float32Array.of(0.5, -1, 0, 0));
  const table = parseTokenTable(bytes);
  expect([...table.places]).toEqual([
    ["stone", 0],
    ["##s", 1],
  ]);
  expect((table.vectors[1] as number) * (table.scales[0] as number)).toBeCloseTo(-1, 5);
  expect(table.scales[1]).toBe(0);
  expect(() => parseTokenTable(bytes.subarray(1))).toThrow(/damaged/);
  expect(() => parseTokenTable(bytes.subarray(0, bytes.length - 1))).toThrow(/damaged/);
});
