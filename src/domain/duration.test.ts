import { expect, it } from "vitest";
import { parseDuration } from "./duration.ts";

it("reads a number with a unit", () => {
  expect(["90s", "15m", "12h", "30d", "4w", "1y", " 0s "].map(parseDuration)).toEqual([
    90_000, 900_000, 43_200_000, 2_592_000_000, 2_419_200_000, 31_536_000_000, 0,
  ]);
});

it("refuses everything else", () => {
  for (const text of ["", "30", "d", "-1d", "1.5h", "1mo", "30 d", "1001y", "9999999999s", "1D"]) {
    expect(parseDuration(text), text).toBeUndefined();
  }
});
