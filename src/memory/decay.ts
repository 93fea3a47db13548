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
export const staleBelow = 0.3;

const halfLifeDays = 30;
const dynamicShare = 1 / 3;
const importanceStretch = 1.5;
const stretch: Readonly<Record<Tier, number>> = { core: 0.8, working: 1.0, peripheral: 1.3 };
const floors: Readonly<Record<Tier, number>> = { core: 0.9, working: 0.7, peripheral: 0.5 };
const accessScale = 5;
const gapScaleDays = 30;
const weights = { recency: 0.4, frequency: 0.3, intrinsic: 0.3 };
const factorLeast = 0.3;

/** A stretched exponential over the days since the last access, or since creation without one. */
export function recency(days: number, { importance, tier, temporalType }: Omit<DecayFacts, "createdAt">): number {
  const base = halfLifeDays * (temporalType === "dynamic" ? dynamicShare : 1);
  const halfLife = base * Math.exp(importanceStretch * importance);
  return Math.exp(-(Math.LN2 / halfLife) * days ** stretch[tier]);
}

export function frequency(accesses: number, meanGapDays: number): number {
  return (1 - Math.exp(-accesses / accessScale)) * (0.5 + 0.5 * Math.exp(-meanGapDays / gapScaleDays));
}

export function intrinsic({ importance, confidence }: Pick<DecayFacts, "importance" | "confidence">): number {
  return importance * confidence;
}

/** The mean time between accesses; the first interval starts at creation. */
export function meanGapDays({ createdAt, lastAccessedAt, accessCount }: DecayFacts): number {
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
export function computeWorth(facts: DecayFacts, now: number): Worth {
  const days = Math.max(0, now - (facts.lastAccessedAt ?? facts.createdAt)) / dayMs;
  const parts = {
    recency: recency(days, facts),
    frequency: frequency(facts.accessCount, meanGapDays(facts)),
    intrinsic: intrinsic(facts),
  };
  const composite =
    weights.recency * parts.recency + weights.frequency * parts.frequency + weights.intrinsic * parts.intrinsic;
  return { ...parts, composite, stale: composite < staleBelow };
}

/** The factor on the score of a memory in a search. */
export function searchFactor(tier: Tier, composite: number): number {
  const factor = 0.3 + 0.7 * Math.max(floors[tier], composite);
  return Math.min(1, Math.max(factorLeast, factor));
}

/** The worth over the coming days, for display. */
export function decayCurve(
  facts: DecayFacts,
  now: number,
  days: number,
  points = 30,
): { day: number; worth: number }[] {
  return Array.from({ length: points + 1 }, (_, index) => {
    const day = (days * index) / points;
    return { day, worth: computeWorth(facts, now + day * dayMs).composite };
  });
}
