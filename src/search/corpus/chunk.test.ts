import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chunkMarkdown } from "./chunk.ts";

const words = (count: number, word = "word") => Array.from({ length: count }, () => word).join(" ");
const small = { tokens: 40, overlap: 8 };
const ranges = (text: string, options = small) => chunkMarkdown(text, options).map(({ start, end }) => [start, end]);

describe("chunks of Markdown", () => {
  it.each([
    ["nothing", "", []],
    ["one line without an end", "hello", [[1, 1]]],
    ["a small file", "# A\n\ntext\n", [[1, 3]]],
    [
      "sections when the first is large enough",
      `# A\n${words(25)}\n\n# B\n${words(25)}\n`,
      [
        [1, 3],
        [4, 5],
      ],
    ],
    ["small sections together", "# A\none\n\n# B\ntwo\n", [[1, 5]]],
    [
      "a heading with the text that follows it",
      `${words(15)}\n\n## B\n\n${words(30)}\n`,
      [
        [1, 2],
        [3, 5],
      ],
    ],
    [
      "a fenced block whole, ignoring headings in it",
      `${words(20)}\n\n\`\`\`sh\n# not a heading\n${words(15)}\n\n${words(15)}\n\`\`\`\n`,
      [
        [1, 2],
        [3, 8],
      ],
    ],
    ["a fence that is never closed", "```\na\n\nb", [[1, 4]]],
    ["front matter", "---\ntitle: x\n---\n# A\n", [[1, 4]]],
  ])("keep %s", (_, text, expected) => {
    expect(ranges(text)).toEqual(expected);
  });

  it("keep a list whole, over empty lines and indented parts", () => {
    const list = `- ${words(8)}\n\n- ${words(8)}\n  more\n\n  ${words(8)}\n- end`;
    expect(ranges(`${words(30)}\n\n${list}\n\n${words(30)}`)).toContainEqual([3, 10]);
  });

  it("list the headings above them", () => {
    const text = `# Guide\n${words(25)}\n## Install\n${words(30)}\n${words(30)}\n# Other\n${words(25)}\n`;
    expect(chunkMarkdown(text, small).map((chunk) => chunk.heading)).toEqual(["", "Guide", "Guide > Install", ""]);
  });

  it("repeat the end of the previous chunk within a section", () => {
    const text = Array.from({ length: 20 }, (_, index) => `line ${index} of it`).join("\n");
    const chunks = chunkMarkdown(text, { tokens: 40, overlap: 15 });
    expect(chunks.length).toBeGreaterThan(2);
    for (const [index, chunk] of chunks.slice(1).entries()) {
      expect(chunk.start).toBeLessThanOrEqual(chunks[index]?.end ?? 0);
    }
  });

  it("split a line that is too long for one chunk and number the parts", () => {
    const parts = chunkMarkdown(`intro\n\n${words(500)}\n`, small).slice(1);
    expect(parts.length).toBeGreaterThan(5);
    expect(parts.map((chunk) => chunk.part)).toEqual(parts.map((_, index) => index + 1));
    expect(parts.every((chunk) => chunk.start === 3 && chunk.tokens <= 2 * small.tokens)).toBe(true);
    expect(parts.map((chunk) => chunk.text).join("")).toBe(words(500));
  });

  it("cover every line of any file in order with exactly its text", () => {
    const line = fc.oneof(
      fc.constantFrom("", "# A", "## B", "- item", "  indented", "```", "~~~", "---", "| a | b |", "1. one"),
      fc.integer({ min: 1, max: 120 }).map((count) => words(count, "lorem")),
      fc.string({ maxLength: 30 }).map((text) => text.replaceAll(/[\r\n]/g, " ")),
    );
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 60 }),
        fc.integer({ min: 5, max: 100 }),
        fc.integer({ min: 0, max: 40 }),
        (lines, tokens, overlap) => {
          const chunks = chunkMarkdown(lines.join("\n"), { tokens, overlap: Math.min(overlap, tokens - 1) });
          const count = lines.at(-1) === "" ? lines.length - 1 : lines.length;
          const covered = new Set<number>();
          const keys = new Set<string>();
          let before = { start: 0, end: 0 };
          for (const chunk of chunks) {
            for (let at = chunk.start; at <= chunk.end; at += 1) covered.add(at);
            const text = lines.slice(chunk.start - 1, chunk.end).join("\n");
            if (chunk.part === 0) expect(chunk.text).toBe(text);
            else expect(text).toContain(chunk.text);
            expect(chunk.start).toBeGreaterThanOrEqual(before.start);
            expect(chunk.start).toBeLessThanOrEqual(before.end + 1);
            expect(chunk.end).toBeGreaterThanOrEqual(before.end);
            keys.add(`${chunk.start}-${chunk.end}.${chunk.part}`);
            before = chunk;
          }
          expect(covered.size).toBe(count);
          expect(keys.size).toBe(chunks.length);
        },
      ),
      { numRuns: 400 },
    );
  });
});
