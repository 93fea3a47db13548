import type { Clock } from "../domain/index.ts";

const minuteMs = 60_000;
const keysMax = 10_000;

export interface RateLimiter {
  /** Counts one request of a caller; returns how long to wait when its limit is used up. */
  take(key: string): { retryAfterSeconds: number } | undefined;
}

/** A token bucket per caller, refilled evenly: a burst may use a whole minute's requests at once. */
export function createRateLimiter(clock: Clock, perMinute: number): RateLimiter {
  const buckets = new Map<string, { left: number; at: number }>();
  return {
    take: (key) => {
      const now = clock.now();
      const known = buckets.get(key);
      const refill = known ? (Math.max(0, now - known.at) * perMinute) / minuteMs : 0;
      const left = known ? Math.min(perMinute, known.left + refill) : perMinute;
      // Re-inserted, so that the map's first key is the caller that was idle longest.
      buckets.delete(key);
      buckets.set(key, { left: left >= 1 ? left - 1 : left, at: now });
      if (buckets.size > keysMax) buckets.delete(buckets.keys().next().value ?? key);
      if (left >= 1) return undefined;
      return { retryAfterSeconds: Math.max(1, Math.ceil(((1 - left) * minuteMs) / perMinute / 1000)) };
    },
  };
}
