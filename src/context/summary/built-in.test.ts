import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { estimateTokens } from "../../text/index.ts";
import { mergeInDetail, writeBuiltIn } from "./built-in.ts";
import { isWorkLogText, parseWorkLog } from "./work-log/parse.ts";
import { WorkSession } from "./work-log/session.test-util.ts";

const noise = [
  "Great!",
  "Perfect, thank you for your patience.",
  "Let me check the harbour list first.",
  "Now I'll update the timetable with the new departures.",
  "    at departFerry (/srv/ferry/src/depart.ts:14:9)",
  '{"departures": [{"hour": 7, "pier": 3, "seats": 120}], "total": 1}',
  "drwxr-xr-x  5 root root  4096 Mar  3 09:00 departures",
  "[INFO] 2026-03-03 09:00:01 compiling 40 of 200 modules",
  "| pier | hour |\n|------|------|\n| 3 | 7 |",
];
const work = (): WorkSession =>
  new WorkSession()
    .user("Find out why the ferry leaves an hour late in winter.")
    .tool("Read", { file_path: "/srv/ferry/src/depart.ts" }, noise.join("\n"))
    .assistant(`${noise.join("\n")}\nThe departure was computed in UTC although the timetable is in local time.`)
    .tool("Edit", { file_path: "/srv/ferry/src/depart.ts", old_string: "utc", new_string: "local" })
    .bash("npm test", "Tests:  9 passed, 9 total")
    .assistant(`${noise.join("\n")}\nThe departures now use the time zone of the harbour, Europe/Oslo.`);

describe("the built-in summary of work", () => {
  it("is a work log whose sentences are no frames, JSON, listings, progress, plans or thanks", () => {
    const text = writeBuiltIn({ depth: 0, turns: work().turns }, { targetTokens: 1_500 });
    expect(isWorkLogText(text)).toBe(true);
    expect(text).toContain("Find out why the ferry leaves an hour late in winter.");
    expect(text).toContain("The departure was computed in UTC");
    expect(text).toContain("Europe/Oslo");
    for (const piece of [
      "departFerry",
      '"departures"',
      "drwxr",
      "[INFO]",
      "| pier",
      "Let me",
      "Now I'll",
      "patience",
    ]) {
      expect(text, piece).not.toContain(piece);
    }
  });

  it("has a citation on every line but the fixed ones", () => {
    const text = writeBuiltIn({ depth: 0, turns: work().turns }, { targetTokens: 1_500 });
    const bullets = text.split("\n").filter((line) => line.startsWith("- "));
    expect(bullets.length).toBeGreaterThan(3);
    for (const line of bullets) expect(line).toMatch(/ \[msg#\d+\]$/);
  });

  it("of a chat without tools has no sections", () => {
    const { turns } = new WorkSession()
      .user("When does the ferry leave?")
      .assistant("The ferry leaves at 07:40 on Friday.");
    expect(isWorkLogText(writeBuiltIn({ depth: 0, turns }, { targetTokens: 400 }))).toBe(false);
  });

  it("of summaries merges their logs, with the requests of both", () => {
    const first = writeBuiltIn({ depth: 0, turns: work().turns }, { targetTokens: 900 });
    const later = new WorkSession()
      .user("Paint the depart button green.")
      .tool("Edit", { file_path: "/srv/ferry/src/depart.ts", old_string: "red", new_string: "green" });
    const second = writeBuiltIn({ depth: 0, turns: later.turns }, { targetTokens: 900 });
    const turns = [first, second].map((text, index) => ({ time: index, until: index + 1, text }));
    const merged = parseWorkLog(writeBuiltIn({ depth: 1, turns }, { targetTokens: 1_200 }));
    expect(merged.requests.map(({ text }) => text)).toEqual([
      "Find out why the ferry leaves an hour late in winter.",
      "Paint the depart button green.",
    ]);
    expect(merged.files).toMatchObject([{ path: "/srv/ferry/src/depart.ts", operation: "edited", edits: 2 }]);
    expect(mergeInDetail([first, second], 1_200, 5_000)).toContain("Paint the depart button green.");
    expect(mergeInDetail([first, "The pier was swept."], 1_200, 5_000)).toBeUndefined();
  });

  it("never exceeds a target of 200 tokens and more, and is always the same", () => {
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 3_000 }), fc.integer({ min: 1, max: 40 }), (targetTokens, rounds) => {
        const session = new WorkSession();
        for (let round = 0; round < rounds; round += 1) {
          session
            .user(`Check the rope number ${round} of the northern pier and tell me how long it is.`)
            .tool("Write", { file_path: `/srv/ropes/rope${round}.md`, content: "x" })
            .assistant(`The rope number ${round} of the northern pier is ${round} metres long and still dry.`);
        }
        const text = writeBuiltIn({ depth: 0, turns: session.turns }, { targetTokens });
        expect(estimateTokens(text)).toBeLessThanOrEqual(targetTokens);
        expect(writeBuiltIn({ depth: 0, turns: session.turns }, { targetTokens })).toBe(text);
      }),
      { numRuns: 40 },
    );
  });
});
