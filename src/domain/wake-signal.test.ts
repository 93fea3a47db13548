import { expect, it } from "vitest";
import { WakeSignal } from "./wake-signal.ts";

it("a wake-up ends the wait, or the next one when nobody waits", async () => {
  const bell = new WakeSignal();
  const waiting = bell.wait(600_000);
  bell.wake();
  expect(await waiting).toBe(true);
  bell.wake();
  bell.wake();
  expect(await bell.wait(600_000)).toBe(true);
  expect(await bell.wait(1)).toBe(false);
});
