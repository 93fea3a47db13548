import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LocalEmbedder } from "./local-embedder.ts";

describe("the offline embedder", () => {
  const cacheFolder = mkdtempSync(join(tmpdir(), "varve-embed-"));
  let embedder: LocalEmbedder;
  beforeAll(() => {
    embedder = new LocalEmbedder({ cacheFolder });
  });
  afterAll(async () => {
    await embedder.close();
    rmSync(cacheFolder, { recursive: true, force: true });
  });

  const cosine = (a: Float32Array, b: Float32Array) =>
    a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);

  test("texts with the same meaning are similar, whatever their words", async () => {
    const [flight, cheese] = await embedder.embed([
      { text: "The plane leaves on Friday at seven.", speaker: "Ann" },
      { text: "I like cheese on bread." },
    ]);
    const query = await embedder.embedQuery("When does the flight depart?");
    expect(cosine(query.vector, flight!.vector)).toBeGreaterThan(cosine(query.vector, cheese!.vector) + 0.2);
  });

  test("a vector does not depend on other texts in the batch", async () => {
    const [alone] = await embedder.embed([{ text: "A quiet evening." }]);
    const [, batched] = await embedder.embed([
      { text: "Something long before it. ".repeat(30) },
      { text: "A quiet evening." },
    ]);
    expect(batched).toEqual(alone);
  });

  test("a query returns its words, and the tokens of a rare word stay together", async () => {
    const query = await embedder.embedQuery("Reykjavik's fjordlands?");
    expect(query.words?.map((word) => word.text)).toEqual(["reykjavik", "'", "s", "fjordlands", "?"]);
  });

  test("empty text and unusual characters have a vector too", async () => {
    const results = await embedder.embed([{ text: "" }, { text: "\u0000\ud800 🙂" }]);
    expect(results.every(({ vector }) => vector.every(Number.isFinite))).toBe(true);
  });

  test("closing one embedder does not affect the others", async () => {
    const other = new LocalEmbedder({ cacheFolder });
    await other.embedQuery("here");
    await other.close();
    await expect(other.embedQuery("gone")).rejects.toThrow("closed");
    expect((await embedder.embedQuery("still here")).vector).toHaveLength(384);
  });
});
