import { expect, it } from "vitest";
import { createRateLimiter } from "./rate-limit.ts";

it("lets a minute's worth through at once, then as much as time brings, each caller apart", () => {
  let now = 0;
  const limiter = createRateLimiter({ now: () => now }, 60);
  const passed = (count: number, key = "a") =>
    Array.from({ length: count }, () => limiter.take(key)).filter((wait) => !wait).length;
  expect(passed(100)).toBe(60);
  expect(limiter.take("a")).toEqual({ retryAfterSeconds: 1 });
  expect(passed(1, "b")).toBe(1);
  now += 2500;
  expect(passed(10)).toBe(2);
  now += 10 * 60_000;
  expect(passed(100)).toBe(60);
  now -= 5 * 60_000;
  expect(passed(1)).toBe(0);
});

it("says how long to wait when the minute's worth is small", () => {
  const limiter = createRateLimiter({ now: () => 0 }, 1);
  limiter.take("a");
  expect(limiter.take("a")).toEqual({ retryAfterSeconds: 60 });
});

it("forgets who was silent for longest when there are too many", () => {
  const limiter = createRateLimiter({ now: () => 0 }, 1);
  limiter.take("first");
  for (let index = 0; index < 10_000; index += 1) limiter.take(`other ${index}`);
  expect(limiter.take("first")).toBeUndefined();
  expect(limiter.take("other 9999")).toBeDefined();
});

it("charges a caller several requests at once, never more than a minute's worth", () => {
  let now = 0;
  const limiter = createRateLimiter({ now: () => now }, 60);
  limiter.charge("a", 59);
  expect(limiter.take("a")).toBeUndefined();
  expect(limiter.take("a")).toEqual({ retryAfterSeconds: 1 });
  limiter.charge("a", 1_000);
  expect(limiter.take("b")).toBeUndefined();
  now += 1_000;
  expect(limiter.take("a")).toBeUndefined();
});
