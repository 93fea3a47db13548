import fc from "fast-check";
import { RE2JS } from "re2js";
import { describe, expect, it } from "vitest";
import { compilePattern } from "./pattern.ts";

const letter = fc.constantFrom(
  "a",
  "b",
  "c",
  "k",
  "K",
  "é",
  "語",
  "😀",
  " ",
  "\n",
  "-",
  "1",
  '"',
  "\\",
  "\u00a0",
  "\u212a",
);
const text = fc.array(letter, { maxLength: 60 }).map((letters) => letters.join(""));

/** Patterns of every kind the syntax has, most of them sensible. */
const atom = fc.constantFrom(
  ...["a", "b", "c", "ab", "abc", "cab", "k", "é", "語", "😀", " ", "\\.", "\\-", "-", ".", "\\d", "\\D", "\\w", "\\W"],
  ...[
    "\\s",
    "\\S",
    "\\b",
    "^",
    "$",
    "[ab]",
    "[^a]",
    "[a-c]",
    "[^\\s]",
    "[\\w-]",
    "[\\d-]",
    "\\x61",
    "\\pL",
    "\\Qa.b\\E",
    "(?i:a)",
  ],
);
const quantifier = fc.constantFrom("", "", "", "", "*", "+", "?", "{2}", "{1,3}", "{2,}", "*?", "+?");
const pattern = fc.letrec<{ pattern: string; piece: string }>((tie) => ({
  piece: fc.oneof(
    { depthSize: "small" },
    fc.tuple(atom, quantifier).map(([one, times]) => one + times),
    fc.tuple(tie("pattern"), quantifier).map(([one, times]) => `(${one})${times}`),
    fc.tuple(tie("pattern"), quantifier).map(([one, times]) => `(?:${one})${times}`),
  ),
  pattern: fc.oneof(
    { depthSize: "small" },
    fc.array(tie("piece"), { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join("")),
    fc.tuple(tie("piece"), tie("piece")).map(([one, other]) => `${one}|${other}`),
  ),
})).pattern;
const flags = fc.constantFrom("", "", "(?i)", "(?s)", "(?m)");

describe("a pattern", () => {
  it("finds exactly what the linear engine finds, wherever a quicker look decides", () => {
    fc.assert(
      fc.property(flags, pattern, fc.array(text, { minLength: 1, maxLength: 8 }), (flag, source, texts) => {
        const whole = flag + source;
        let linear: RE2JS;
        try {
          linear = RE2JS.compile(whole);
        } catch {
          expect(() => compilePattern(whole)).toThrow(/cannot be used/);
          return;
        }
        const compiled = compilePattern(whole);
        for (const one of texts) {
          const matcher = linear.matcher(one);
          const expected = matcher.find() ? { from: matcher.start(), to: matcher.end() } : undefined;
          expect(compiled.find(one), `${whole} in ${JSON.stringify(one)}`).toEqual(expected);
          if (expected && compiled.needle !== undefined) expect(one).toContain(compiled.needle);
        }
      }),
      { numRuns: 3_000 },
    );
  });

  it("comes to an end where others would try for ever", () => {
    const evil = `${"a".repeat(20_000)}!`;
    for (const source of ["(a+)+$", "(a|a)+$", "(a|aa)+$", "a*a*a*a*a*b", "([a-z]+)*1", "(.*)*x"]) {
      expect(compilePattern(source).find(evil), source).toBeUndefined();
    }
  });

  it.each([
    ["", /empty/],
    ["(", /RE2|missing|paren/i],
    ["a(?=b)", /cannot be used/],
    ["(a)\\1", /cannot be used/],
    ["x{100000}", /cannot be used/],
    ["a".repeat(1_001), /1000/],
  ])("that cannot be used is refused with what to send instead: %s", (source, wanted) => {
    expect(() => compilePattern(source)).toThrow(wanted);
  });

  it.each([
    ["deploy \\w+ to", "deploy"],
    ["colou?r", "colo"],
    ["(foo)?bar", "bar"],
    ["foo|bar", undefined],
    ["x.{3}y", undefined],
    ["https?://host", "://host"],
    ["(?i)deploy", undefined],
  ])("knows what every match of %s holds", (source, needle) => {
    expect(compilePattern(source).needle).toBe(needle);
  });
});
