import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { charactersMax, clip, fitting, page, sayCuts } from "./output-budget.ts";
import { name, quote } from "./quote.ts";

const nasty = fc.string({
  unit: fc.constantFrom("a", "\n", "\r", "\u2028", "\u0000", '"', "#", "`", "\ud800", ">", "**Cut:**"),
});

describe("the room of an answer", () => {
  it("holds the beginning of any text, however it is asked for", () => {
    fc.assert(
      fc.property(
        nasty,
        fc.integer({ min: 1, max: 50_000 }),
        fc.integer({ min: 1, max: 20_000 }),
        (piece, asked, times) => {
          const text = piece.repeat(times).slice(0, 60_000);
          const { text: shown, cut } = clip(text, asked);
          expect(shown.length).toBeLessThanOrEqual(asked);
          expect(quote(shown).length).toBeLessThanOrEqual(charactersMax);
          expect(JSON.stringify(shown).length).toBeLessThanOrEqual(charactersMax);
          if (!cut) expect(shown).toBe(text);
          else expect(shown).toBe(text.slice(0, cut.shown).toWellFormed());
        },
      ),
      { numRuns: 60 },
    );
  });

  it("shows at least one character, even when only one token is asked for", () => {
    expect(clip("hello", 4)).toEqual({ text: "hell", cut: { shown: 4, of: 5 } });
  });

  it("keeps what fits in order and counts the rest", () => {
    const blocks = Array.from({ length: 100 }, (_, index) => ({ words: "w".repeat(1000), value: index }));
    const { kept, rest } = fitting(blocks);
    expect(kept.length + rest.length).toBe(100);
    expect(kept.at(-1)?.value).toBe(kept.length - 1);
    expect(kept.length).toBe(35);
  });

  it("says cuts on one line each, and that there were more", () => {
    const cuts = sayCuts([
      `the model failed (\n# lcm_grep: 1 match ${"x".repeat(1000)})`,
      ...Array.from({ length: 20 }, String),
    ]);
    expect(cuts).toHaveLength(11);
    expect(cuts.at(-1)).toBe("11 further cuts are not listed");
    expect(
      page("heading", [], cuts)
        .split("\n")
        .filter((line) => line.startsWith("#")),
    ).toEqual(["# heading"]);
  });
});

describe("what is quoted", () => {
  it("has no line of its own, whatever it holds", () => {
    fc.assert(
      fc.property(nasty, (text) => {
        for (const line of quote(text).split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/))
          expect(line.startsWith("> ")).toBe(true);
        expect(name(text)).toMatch(/^`[^`\n\r\u2028]*`$/);
      }),
    );
  });
});
