import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { followIdleMemory } from "./idle-memory.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("memory is returned after the start and a minute after the last activity, once each", () => {
  const release = vi.fn();
  const memory = followIdleMemory(release);
  vi.advanceTimersByTime(1_000);
  expect(release).toHaveBeenCalledTimes(1);
  memory.touch();
  vi.advanceTimersByTime(40_000);
  memory.touch();
  vi.advanceTimersByTime(59_000);
  expect(release).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1_000);
  expect(release).toHaveBeenCalledTimes(2);
  vi.advanceTimersByTime(600_000);
  expect(release).toHaveBeenCalledTimes(2);
  memory.touch();
  vi.advanceTimersByTime(60_000);
  expect(release).toHaveBeenCalledTimes(3);
});

test("a gateway that is in use from its start is not interrupted", () => {
  const release = vi.fn();
  const memory = followIdleMemory(release);
  memory.touch();
  vi.advanceTimersByTime(59_000);
  expect(release).not.toHaveBeenCalled();
  memory.stop();
});

test("nothing is collected after the stop", () => {
  const release = vi.fn();
  followIdleMemory(release).stop();
  vi.advanceTimersByTime(600_000);
  expect(release).not.toHaveBeenCalled();
});
