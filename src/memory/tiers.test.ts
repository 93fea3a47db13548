import { describe, expect, it } from "vitest";
import { type DecayFacts, dayMs } from "./decay.ts";
import { nextTier } from "./tiers.ts";

const at = (more: Partial<DecayFacts>): DecayFacts => ({
  importance: 0.9,
  confidence: 0.9,
  tier: "working",
  temporalType: "static",
  createdAt: 0,
  accessCount: 0,
  ...more,
});

describe("a memory moves", () => {
  it.each([
    ["up from peripheral at three accesses", { tier: "peripheral", accessCount: 3 }, 1, "working"],
    ["not up from peripheral at two", { tier: "peripheral", accessCount: 2 }, 1, "peripheral"],
    [
      "not up from peripheral while it is worth less than 0.4",
      { tier: "peripheral", accessCount: 3, importance: 0.1, confidence: 0.1 },
      100,
      "peripheral",
    ],
    // 0.4 + 0.3 * (1 - e^-2) * 1 + 0.3 * 0.81 = 0.4 + 0.2594 + 0.243
    ["up to core at ten accesses of something important", { accessCount: 10, lastAccessedAt: 0 }, 0, "core"],
    [
      "not to core when it matters less than 0.8",
      { accessCount: 10, lastAccessedAt: 0, importance: 0.79 },
      0,
      "working",
    ],
    ["not to core at nine", { accessCount: 9, lastAccessedAt: 0 }, 0, "working"],
    ["down from working after sixty days with less than three accesses", { accessCount: 2 }, 61, "peripheral"],
    ["not down with three of them", { accessCount: 3, lastAccessedAt: 60 * dayMs }, 61, "working"],
    // 0.4 * 0.256 + 0.3 * 0.181 = 0.157
    ["not down from working just above 0.15", { importance: 0, accessCount: 1, lastAccessedAt: 0 }, 59, "working"],
    ["down from working when it is worth nothing", { importance: 0, confidence: 0, accessCount: 0 }, 50, "peripheral"],
    ["down from core only when unused and worth nothing", { tier: "core", importance: 0 }, 3000, "working"],
    ["not down from core when it was used", { tier: "core", importance: 0, accessCount: 3 }, 3000, "core"],
  ] as const)("%s", (_, more, days, wanted) => {
    expect(nextTier(at(more), days * dayMs)).toBe(wanted);
  });
});
