import type { Clock } from "../domain/index.ts";

const minuteMs = 60_000;
const keysMax = 10_000;

export interface RateLimiter {
  /** Counts one request of a caller; returns how long to wait when its limit is used up. */
  take(key: string): { retryAfterSeconds: number } | undefined;
  /** Counts work that a caller caused without use, as so many requests; its next request may have to wait for it. */
  charge(key: string, requests: number): void;
}

/** A token bucket per caller, refilled evenly: a burst may use a whole minute's requests at once. */
export function createRateLimiter(clock: Clock, perMinute: number): RateLimiter {
  const buckets = new Map<string, { left: number; at: number }>();
  const readLeft = (key: string, now: number): number => {
    const known = buckets.get(key);
    if (!known) return perMinute;
    return Math.min(perMinute, known.left + (Math.max(0, now - known.at) * perMinute) / minuteMs);
  };
  const writeLeft = (key: string, left: number, now: number): void => {
    // Re-inserted, so that the map's first key is the caller that was idle longest.
    buckets.delete(key);
    buckets.set(key, { left, at: now });
    if (buckets.size > keysMax) buckets.delete(buckets.keys().next().value ?? key);
  };
  return {
    charge: (key, requests) => {
      const now = clock.now();
      writeLeft(key, Math.max(0, readLeft(key, now) - requests), now);
    },
    take: (key) => {
      const now = clock.now();
      const left = readLeft(key, now);
      writeLeft(key, left >= 1 ? left - 1 : left, now);
      if (left >= 1) return undefined;
      return { retryAfterSeconds: Math.max(1, Math.ceil(((1 - left) * minuteMs) / perMinute / 1000)) };
    },
  };
}
