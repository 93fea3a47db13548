import { computeWorth, type DecayFacts, dayMs } from "./decay.ts";
import type { Tier } from "./memory.ts";

/** The tier of a memory by its worth and accesses. It changes by one step at a time. */
export function nextTier(facts: DecayFacts, now: number): Tier {
  const { composite } = computeWorth(facts, now);
  const { accessCount, importance } = facts;
  const ageDays = (now - facts.createdAt) / dayMs;
  switch (facts.tier) {
    case "peripheral":
      return accessCount >= 3 && composite >= 0.4 ? "working" : "peripheral";
    case "working":
      if (accessCount >= 10 && composite >= 0.7 && importance >= 0.8) return "core";
      return composite < 0.15 || (ageDays > 60 && accessCount < 3) ? "peripheral" : "working";
    case "core":
      return composite < 0.15 && accessCount < 3 ? "working" : "core";
  }
}
