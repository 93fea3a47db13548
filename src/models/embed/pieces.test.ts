import { describe, expect, test } from "vitest";
import { piecesMax, splitPieces } from "./pieces.ts";

const countWords = (text: string) => text.split(/\s+/).filter(Boolean).length;

describe("pieces of a long text", () => {
  test("a short text is one piece", () => {
    expect(splitPieces("One sentence. Another one.", countWords)).toEqual({
      pieces: ["One sentence. Another one."],
      cut: false,
    });
  });

  test("pieces end at sentences and together contain every word", () => {
    const sentences = Array.from({ length: 60 }, (_, index) => `This is sentence number ${index} of the text.`);
    const { pieces } = splitPieces(sentences.join(" "), countWords);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.every((piece) => piece.endsWith("."))).toBe(true);
    expect(pieces.join(" ")).toBe(sentences.join(" "));
  });

  test("an overlong sentence is split by length, and truncation is reported", () => {
    const endless = "word ".repeat(160 * (piecesMax + 10));
    const { pieces, cut } = splitPieces(endless, countWords);
    expect(pieces).toHaveLength(piecesMax);
    expect(cut).toBe(true);
  });

  test("an empty text has no pieces", () => {
    expect(splitPieces(" \n ", countWords).pieces).toEqual([]);
  });
});
