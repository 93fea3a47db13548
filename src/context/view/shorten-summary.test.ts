import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { estimateTokens } from "../../text/index.ts";
import { limitSummary, shortenSummary } from "./shorten-summary.ts";

const summary = [
  "Requests",
  "- Sort the timetable [msg#3]",
  "- Paint the buoys [msg#40]",
  "Done",
  "- edited src/buoy.ts [msg#41]",
  "Open",
  "- [ ] Light the beacon [msg#12]",
  "Stands for 900 tokens.",
].join("\n");

describe("a limited summary", () => {
  it("leaves out the lines about later messages, and sections without lines", () => {
    expect(limitSummary(summary, 40)).toBe(
      [
        "Requests",
        "- Sort the timetable [msg#3]",
        "Open",
        "- [ ] Light the beacon [msg#12]",
        "Stands for 900 tokens.",
      ].join("\n"),
    );
  });

  it("is the same when nothing of it is later", () => {
    expect(limitSummary(summary, 42)).toBe(summary);
  });
});

describe("a shortened summary", () => {
  it("is the same when it fits", () => {
    expect(shortenSummary(summary, 1_000)).toBe(summary);
  });

  it("has the newest lines of every section, in order, and says how many are left out", () => {
    const section = (name: string) => [name, ...Array.from({ length: 40 }, (_, index) => `- ${name} line ${index}`)];
    const long = [...section("Requests"), ...section("Done"), ...section("Open")].join("\n");
    const lines = shortenSummary(long, 200).split("\n");
    for (const name of ["Requests", "Done", "Open"]) {
      expect(lines).toContain(name);
      expect(lines).toContain(`- ${name} line 39`);
      expect(lines).not.toContain(`- ${name} line 0`);
    }
    const left = Number(/(\d+) lines left out/.exec(lines.at(-1) ?? "")?.[1]);
    expect(left).toBe(123 - (lines.length - 1));
    expect(lines.slice(0, -1)).toEqual(long.split("\n").filter((line) => lines.includes(line)));
  });

  it("never exceeds its tokens, and is always the same", () => {
    const line = fc.oneof(
      fc.constantFrom("Requests", "Done", ""),
      fc.lorem({ maxCount: 15 }).map((text) => `- ${text}`),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 60 }), fc.integer({ min: 60, max: 600 }), (lines, most) => {
        const text = lines.join("\n");
        const short = shortenSummary(text, most);
        expect(estimateTokens(short)).toBeLessThanOrEqual(most);
        expect(shortenSummary(text, most)).toBe(short);
      }),
    );
  });
});
