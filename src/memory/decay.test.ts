import { describe, expect, it } from "vitest";
import { computeWorth, type DecayFacts, dayMs, decayCurve, frequency, recency, searchFactor } from "./decay.ts";

const facts = (more: Partial<DecayFacts> = {}): DecayFacts => ({
  importance: 0,
  confidence: 1,
  tier: "working",
  temporalType: "static",
  createdAt: 0,
  accessCount: 0,
  ...more,
});

describe("recency", () => {
  // By hand: exp(-(ln 2 / h) * days^beta), h = 30 * exp(1.5 * importance), a third of it for dynamic.
  it.each([
    [0, {}, 1],
    [30, {}, 0.5],
    [60, {}, 0.25],
    [10, { temporalType: "dynamic" }, 0.5],
    // h = 30 * e^1.5 = 134.4507; exp(-0.693147 / 134.4507 * 30)
    [30, { importance: 1 }, 0.8567],
    // 30^0.8 = 15.1949; exp(-0.0231049 * 15.1949)
    [30, { tier: "core" }, 0.7039],
    // 30^1.3 = 83.2242; exp(-0.0231049 * 83.2242)
    [30, { tier: "peripheral" }, 0.1462],
  ] as const)("after %d days with %j is %d", (days, more, wanted) => {
    expect(recency(days, facts(more))).toBeCloseTo(wanted, 3);
  });
});

describe("frequency", () => {
  it.each([
    [0, 0, 0],
    // 1 - e^-1
    [5, 0, 0.6321],
    // (1 - e^-1) * (0.5 + 0.5 * e^-1) = 0.63212 * 0.68394
    [5, 30, 0.4323],
    // (1 - e^-2) * 0.5 for endless gaps
    [10, 1e9, 0.4323],
  ])("of %d accesses with gaps of %d days is %d", (accesses, gap, wanted) => {
    expect(frequency(accesses, gap)).toBeCloseTo(wanted, 3);
  });
});

describe("worth", () => {
  it("is 0.4 recency, 0.3 frequency and 0.3 intrinsic", () => {
    const worth = computeWorth(facts({ importance: 0.8, confidence: 0.5 }), 0);
    expect(worth).toMatchObject({ recency: 1, frequency: 0, intrinsic: 0.4, stale: false });
    expect(worth.composite).toBeCloseTo(0.4 + 0.3 * 0.4, 10);
  });

  it("is computed from the last access, and gaps from creation", () => {
    const used = facts({ accessCount: 5, lastAccessedAt: 150 * dayMs });
    const worth = computeWorth(used, 180 * dayMs);
    expect(worth.recency).toBeCloseTo(0.5, 6);
    expect(worth.frequency).toBeCloseTo(0.4323, 3);
    expect(worth.composite).toBeCloseTo(0.2 + 0.3 * 0.4323, 3);
  });

  it("is stale below 0.3, and a negative age counts as 0", () => {
    expect(computeWorth(facts(), 365 * dayMs).stale).toBe(true);
    expect(computeWorth(facts(), -dayMs).recency).toBe(1);
  });

  it("falls along its curve", () => {
    const curve = decayCurve(facts({ importance: 0.5 }), 0, 90, 3);
    expect(curve.map((point) => point.day)).toEqual([0, 30, 60, 90]);
    expect(curve.map((point) => point.worth)).toEqual(curve.map((point) => point.worth).toSorted((a, b) => b - a));
  });
});

describe("the search factor", () => {
  it.each([
    ["core", 0, 0.93],
    ["working", 0, 0.79],
    ["peripheral", 0, 0.65],
    ["peripheral", 0.8, 0.86],
    ["core", 1, 1],
    ["core", 2, 1],
  ] as const)("for %s at %d is %d", (tier, composite, wanted) => {
    expect(searchFactor(tier, composite)).toBeCloseTo(wanted, 10);
  });
});
