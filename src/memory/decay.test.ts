import { describe, expect, it } from "vitest";
import { loadConfig } from "../config/index.ts";
import {
  chooseTier,
  computeDecayCurve,
  computeFrequency,
  computeRecency,
  computeSearchFactor,
  computeWorth,
  type DecayFacts,
  dayMs,
} from "./decay.ts";

const settings = loadConfig({ home: "/nowhere", env: {} }).config.advanced.memory;
const { decay, tiers } = settings;

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
    expect(computeRecency(days, facts(more), decay)).toBeCloseTo(wanted, 3);
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
    expect(computeFrequency(accesses, gap)).toBeCloseTo(wanted, 3);
  });
});

describe("worth", () => {
  it("is 0.4 recency, 0.3 frequency and 0.3 intrinsic", () => {
    const worth = computeWorth(facts({ importance: 0.8, confidence: 0.5 }), 0, decay);
    expect(worth).toMatchObject({ recency: 1, frequency: 0, intrinsic: 0.4, stale: false });
    expect(worth.composite).toBeCloseTo(0.4 + 0.3 * 0.4, 10);
  });

  it("is computed from the last access, and gaps from creation", () => {
    const used = facts({ accessCount: 5, lastAccessedAt: 150 * dayMs });
    const worth = computeWorth(used, 180 * dayMs, decay);
    expect(worth.recency).toBeCloseTo(0.5, 6);
    expect(worth.frequency).toBeCloseTo(0.4323, 3);
    expect(worth.composite).toBeCloseTo(0.2 + 0.3 * 0.4323, 3);
  });

  it("is stale below 0.3, and a negative age counts as 0", () => {
    expect(computeWorth(facts(), 365 * dayMs, decay).stale).toBe(true);
    expect(computeWorth(facts(), -dayMs, decay).recency).toBe(1);
  });

  it("falls along its curve", () => {
    const curve = computeDecayCurve(facts({ importance: 0.5 }), 0, { days: 90, points: 3 }, decay);
    expect(curve.map((point) => point.day)).toEqual([0, 30, 60, 90]);
    expect(curve.map((point) => point.worth)).toEqual(curve.map((point) => point.worth).toSorted((a, b) => b - a));
  });
});

describe("the search factor", () => {
  it.each([
    ["core", 0, 0.93],
    ["working", 0, 0.79],
    ["peripheral", 0, 0.65],
    ["peripheral", 0.8, 0.93],
    ["core", 1, 1],
    ["core", 2, 1],
  ] as const)("for %s at %d is %d", (tier, composite, wanted) => {
    expect(computeSearchFactor(tier, composite, decay)).toBeCloseTo(wanted, 10);
  });

  it.each(["core", "working", "peripheral"] as const)(
    "tells an unused memory of yesterday from one of three years ago in the %s tier",
    (tier) => {
      const factorAfter = (days: number) =>
        computeSearchFactor(tier, computeWorth(facts({ tier }), days * dayMs, decay).composite, decay);
      expect(factorAfter(1)).toBeGreaterThan(factorAfter(30));
      expect(factorAfter(30)).toBeGreaterThan(factorAfter(3 * 365));
    },
  );
});

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
    expect(chooseTier(at(more), days * dayMs, settings)).toBe(wanted);
  });
});

describe("settings", () => {
  it("change recency, the search factor and staleness", () => {
    const short = { ...decay, halfLifeDays: 15, floors: { ...decay.floors, working: 0 }, staleBelow: 0.9 };
    expect(computeRecency(30, facts(), decay)).toBeCloseTo(0.5, 10);
    expect(computeRecency(30, facts(), short)).toBeCloseTo(0.25, 10);
    expect(computeSearchFactor("working", 0, short)).toBeCloseTo(0.3, 10);
    expect(computeWorth(facts(), 0, short).stale).toBe(true);
  });

  it("change the accesses that promote a memory", () => {
    const used = at({ tier: "peripheral", accessCount: 1 });
    expect(chooseTier(used, 0, settings)).toBe("peripheral");
    expect(chooseTier(used, 0, { decay, tiers: { ...tiers, workingAccesses: 1 } })).toBe("working");
  });
});
