import type { Config } from "../config/index.ts";
import type { TemporalType, Tier } from "./memory.ts";

/** The fields of a memory that determine its worth. */
export interface DecayFacts {
  importance: number;
  confidence: number;
  tier: Tier;
  temporalType: TemporalType;
  createdAt: number;
  lastAccessedAt?: number;
  accessCount: number;
}

export const dayMs = 86_400_000;

/** Settings of decay and tiers, `advanced.memory`. */
export type DecaySettings = Config["advanced"]["memory"]["decay"];
export type TierSettings = Config["advanced"]["memory"]["tiers"];

const accessScale = 5;
const gapScaleDays = 30;
const searchFactorMin = 0.3;

/** A stretched exponential over the days since the last access, or since creation without one. */
export function computeRecency(
  days: number,
  { importance, tier, temporalType }: Omit<DecayFacts, "createdAt">,
  settings: DecaySettings,
): number {
  const base = settings.halfLifeDays * (temporalType === "dynamic" ? settings.dynamicFactor : 1);
  const halfLife = base * Math.exp(settings.importanceFactor * importance);
  return Math.exp(-(Math.LN2 / halfLife) * days ** settings.exponents[tier]);
}

export function computeFrequency(accesses: number, meanGapDays: number): number {
  return (1 - Math.exp(-accesses / accessScale)) * (0.5 + 0.5 * Math.exp(-meanGapDays / gapScaleDays));
}

/** The mean time between accesses; the first interval starts at creation. */
function computeMeanGapDays({ createdAt, lastAccessedAt, accessCount }: DecayFacts): number {
  if (lastAccessedAt === undefined || accessCount === 0) return 0;
  return Math.max(0, lastAccessedAt - createdAt) / dayMs / accessCount;
}

export interface Worth {
  recency: number;
  frequency: number;
  intrinsic: number;
  composite: number;
  stale: boolean;
}

/** The worth of a memory at a time. Negative ages, after the clock was set back, count as 0. */
export function computeWorth(facts: DecayFacts, now: number, settings: DecaySettings): Worth {
  const days = Math.max(0, now - (facts.lastAccessedAt ?? facts.createdAt)) / dayMs;
  const recency = computeRecency(days, facts, settings);
  const frequency = computeFrequency(facts.accessCount, computeMeanGapDays(facts));
  const intrinsic = facts.importance * facts.confidence;
  const { weights } = settings;
  const composite = weights.recency * recency + weights.frequency * frequency + weights.intrinsic * intrinsic;
  return { recency, frequency, intrinsic, composite, stale: composite < settings.staleBelow };
}

/**
 * The factor on the score of a memory in a search. The tier sets the least worth, and the memory's own worth counts
 * above it, so that an unused memory of yesterday ranks before one of three years ago in the same tier.
 */
export function computeSearchFactor(tier: Tier, composite: number, { floors }: DecaySettings): number {
  const worth = floors[tier] + (1 - floors[tier]) * Math.min(1, Math.max(0, composite));
  return searchFactorMin + (1 - searchFactorMin) * worth;
}

/** The worth over the coming days, for display. */
export function computeDecayCurve(
  facts: DecayFacts,
  now: number,
  { days, points = 30 }: { days: number; points?: number },
  settings: DecaySettings,
): { day: number; worth: number }[] {
  return Array.from({ length: points + 1 }, (_, index) => {
    const day = (days * index) / points;
    return { day, worth: computeWorth(facts, now + day * dayMs, settings).composite };
  });
}

/** The tier of a memory by its worth and accesses. It changes by one step at a time. */
export function chooseTier(
  facts: DecayFacts,
  now: number,
  { decay, tiers }: { decay: DecaySettings; tiers: TierSettings },
): Tier {
  const { composite } = computeWorth(facts, now, decay);
  const { accessCount, importance } = facts;
  const ageDays = (now - facts.createdAt) / dayMs;
  const isWorthless = composite < tiers.demoteBelow;
  const isUsed = accessCount >= tiers.workingAccesses;
  switch (facts.tier) {
    case "peripheral":
      return isUsed && composite >= tiers.workingWorth ? "working" : "peripheral";
    case "working":
      if (accessCount >= tiers.coreAccesses && composite >= tiers.coreWorth && importance >= tiers.coreImportance)
        return "core";
      return isWorthless || (ageDays > tiers.demoteAfterDays && !isUsed) ? "peripheral" : "working";
    case "core":
      return isWorthless && !isUsed ? "working" : "core";
  }
}
