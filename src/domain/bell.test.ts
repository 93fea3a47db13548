import { expect, it } from "vitest";
import { Bell } from "./bell.ts";

it("ends a wait when it rings, and the next one when nobody waited", async () => {
  const bell = new Bell();
  const waiting = bell.wait(600_000);
  bell.ring();
  expect(await waiting).toBe(true);
  bell.ring();
  bell.ring();
  expect(await bell.wait(600_000)).toBe(true);
  expect(await bell.wait(1)).toBe(false);
});
