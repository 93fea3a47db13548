import { expect, test } from "vitest";
import { formatStamp, parseLocalTime, toWallClock } from "./clock.ts";

const zones = [
  "UTC",
  "Asia/Shanghai",
  "Asia/Kathmandu",
  "America/New_York",
  "Europe/Berlin",
  "Australia/Lord_Howe",
  "Pacific/Apia",
];

test("a stamp names its zone", () => {
  const noon = Date.UTC(2026, 10, 16, 12, 34);
  expect(formatStamp(noon)).toBe("2026-11-16 12:34Z");
  expect(formatStamp(noon, "Asia/Shanghai")).toBe("2026-11-16 20:34+08:00");
  expect(formatStamp(noon, "Asia/Kathmandu")).toBe("2026-11-16 18:19+05:45");
  expect(formatStamp(noon, "America/New_York")).toBe("2026-11-16 07:34-05:00");
  expect(formatStamp(noon, "Europe/London")).toBe("2026-11-16 12:34Z");
  expect(formatStamp(Number.NaN)).toBe("");
});

test("a stamp is read back as the same minute in every zone, also around changes of the clock", () => {
  const changes = [
    Date.UTC(2026, 2, 8, 7),
    Date.UTC(2026, 2, 29, 1),
    Date.UTC(2026, 9, 25, 1),
    Date.UTC(2026, 10, 1, 6),
  ];
  for (const zone of zones) {
    for (const change of changes) {
      for (let minutes = -180; minutes <= 180; minutes += 15) {
        const instant = change + minutes * 60_000;
        const stamp = formatStamp(instant, zone);
        expect(Date.parse(stamp.replace(" ", "T")), `${zone} ${stamp}`).toBe(instant);
      }
    }
  }
});

test("a local time without a zone is read in the zone it was written in", () => {
  expect(parseLocalTime("2026-11-16", "20:34", "Asia/Shanghai")).toBe(Date.UTC(2026, 10, 16, 12, 34));
  expect(parseLocalTime("2026-11-16", "12:34")).toBe(Date.UTC(2026, 10, 16, 12, 34));
  expect(parseLocalTime("2026-13-16", "12:34")).toBeUndefined();
});

test("the clock of UTC, which needs no formatter, reads like that of a zone without an offset", () => {
  for (const instant of [0, 951_782_399_999, 1_793_750_400_000, 4_102_444_799_500]) {
    expect(toWallClock(instant, "UTC")).toEqual(toWallClock(instant, "Africa/Abidjan"));
  }
  expect(() => toWallClock(Number.NaN, "UTC")).toThrow(RangeError);
});
