import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { summaryId } from "./make-summary.ts";

const identity = fc.record({
  conversation: fc.string(),
  depth: fc.nat(),
  sources: fc.array(fc.string()),
  content: fc.string(),
});

describe("the id of a summary", () => {
  it("is sum_ and sixteen hex digits, the same for the same identity", () => {
    fc.assert(
      fc.property(identity, (one) => {
        expect(summaryId(one)).toMatch(/^sum_[0-9a-f]{16}$/);
        expect(summaryId(structuredClone(one))).toBe(summaryId(one));
      }),
    );
  });

  it("is another one when anything differs, the order of the sources included", () => {
    const one = { conversation: "c", depth: 0, sources: ["a", "b"], content: "x" };
    const others = [
      one,
      { ...one, conversation: "d" },
      { ...one, depth: 1 },
      { ...one, sources: ["b", "a"] },
      { ...one, sources: ["ab"] },
      { ...one, content: "y" },
    ];
    expect(new Set(others.map(summaryId)).size).toBe(others.length);
  });
});
