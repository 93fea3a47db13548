import { describe, expect, it } from "vitest";
import { parseTemporal } from "./temporal.ts";

// A Thursday.
const statedAt = Date.UTC(2026, 0, 15, 12);
const endOf = (month: number, day: number, year = 2026) => Date.UTC(year, month - 1, day + 1);

describe("a text about the present or a plan is dynamic", () => {
  it.each([
    ["My flight is on Friday at 7.", endOf(1, 16)],
    ["The review is next Thursday.", endOf(1, 22)],
    ["I have a dentist tomorrow", endOf(1, 16)],
    ["The visa runs until 2026-03-01", endOf(3, 1)],
    ["We move on March 5th", endOf(3, 5)],
    ["Der Termin ist am Montag", endOf(1, 19)],
    ["In two weeks the lease ends", endOf(1, 29)],
    ["明天开会", endOf(1, 16)],
    ["3月5日搬家", endOf(3, 5)],
    ["I am going to learn Spanish", undefined],
    ["Currently I work from home", undefined],
  ])("%s", (text, expiresAt) => {
    expect(parseTemporal(text, statedAt, "UTC")).toEqual({
      temporalType: "dynamic",
      ...(expiresAt === undefined ? {} : { expiresAt }),
    });
  });

  it("expires at the end of the day in the speaker's time zone", () => {
    const late = Date.UTC(2026, 0, 16, 3);
    expect(parseTemporal("The report is due today", late, "America/New_York").expiresAt).toBe(Date.UTC(2026, 0, 16, 5));
  });
});

describe("a lasting fact is static", () => {
  it.each(["I like tea", "I play tennis every Friday", "The server was set up on 2020-05-01", "My dog is called Rex"])(
    "%s",
    (text) => {
      expect(parseTemporal(text, statedAt, "UTC")).toEqual({ temporalType: "static" });
    },
  );
});
