import type { Clock } from "../domain/index.ts";

const minuteMs = 60_000;
const keysMax = 10_000;

export interface RateLimiter {
  /** Takes one request from a caller's minute; says how long to wait when none is left. */
  take(key: string): { retryAfterSeconds: number } | undefined;
}

/** A bucket for each caller that fills evenly: a burst may use a whole minute's worth, and then waits. */
export function createRateLimiter(clock: Clock, perMinute: number): RateLimiter {
  const buckets = new Map<string, { left: number; at: number }>();
  return {
    take: (key) => {
      const now = clock.now();
      const known = buckets.get(key);
      const refill = known ? (Math.max(0, now - known.at) * perMinute) / minuteMs : 0;
      const left = known ? Math.min(perMinute, known.left + refill) : perMinute;
      // Put in anew, so that the map's first key is the one that was silent for longest.
      buckets.delete(key);
      buckets.set(key, { left: left >= 1 ? left - 1 : left, at: now });
      if (buckets.size > keysMax) buckets.delete(buckets.keys().next().value ?? key);
      if (left >= 1) return undefined;
      return { retryAfterSeconds: Math.max(1, Math.ceil(((1 - left) * minuteMs) / perMinute / 1000)) };
    },
  };
}
