import type { Config } from "../config/index.ts";
import { type Category, categories } from "./memory.ts";
import { computeCoverage, computeRougeL } from "./similarity.ts";

/** The weights of the features, and the scores from which a candidate is admitted or below which it is rejected. */
export interface AdmissionPreset {
  rejectBelow: number;
  admitFrom: number;
  weights: { utility: number; confidence: number; novelty: number; recency: number; typePrior: number };
  /** How likely each category is worth keeping, where it differs from the default of the category. */
  typePriors: Partial<Record<Category, number>>;
  /** How many similar memories a candidate is compared with. */
  pool: number;
  halfLifeDays: number;
}

export const admissionPresets = {
  balanced: {
    rejectBelow: 0.45,
    admitFrom: 0.6,
    weights: { utility: 0.1, confidence: 0.1, novelty: 0.1, recency: 0.1, typePrior: 0.6 },
    typePriors: {},
    pool: 8,
    halfLifeDays: 14,
  },
  conservative: {
    rejectBelow: 0.52,
    admitFrom: 0.68,
    weights: { utility: 0.16, confidence: 0.16, novelty: 0.18, recency: 0.08, typePrior: 0.42 },
    typePriors: {},
    pool: 10,
    halfLifeDays: 10,
  },
  "high-recall": {
    rejectBelow: 0.34,
    admitFrom: 0.52,
    weights: { utility: 0.08, confidence: 0.1, novelty: 0.08, recency: 0.14, typePrior: 0.6 },
    typePriors: {},
    pool: 6,
    halfLifeDays: 21,
  },
} as const satisfies Record<string, AdmissionPreset>;

/** The preset that the settings select, with the overrides of `advanced.memory.admission`; undefined when it is off. */
export function resolveAdmission({
  memory,
  advanced,
}: Pick<Config, "memory" | "advanced">): AdmissionPreset | undefined {
  if (memory.admission === "off") return undefined;
  const preset: AdmissionPreset = admissionPresets[memory.admission];
  const { weights, typePriors, ...overrides } = advanced.memory.admission;
  return {
    ...preset,
    ...omitUndefined(overrides),
    weights: { ...preset.weights, ...omitUndefined(weights) },
    typePriors: omitUndefined(typePriors),
  };
}

/** A memory of the pool with at least this cosine is a match. */
const matchFrom = 0.55;
/** The utility of a candidate that no model has rated. */
const utilityUnknown = 0.5;

export interface AdmissionFacts {
  category: Category;
  /** The text of the candidate. */
  text: string;
  /** Texts of the conversation that may support it. */
  spans: readonly string[];
  /** A model's rating of its usefulness, 0 to 1. */
  utility?: number;
  /** The most similar memories. */
  pool: readonly { similarity: number; ageDays: number }[];
}

export interface Admission {
  outcome: "admit" | "hold" | "reject";
  hint?: "add" | "update_or_merge";
  score: number;
  features: { utility: number; confidence: number; novelty: number; recency: number; typePrior: number };
}

export function admit(facts: AdmissionFacts, preset: AdmissionPreset): Admission {
  const matches = facts.pool.filter((one) => one.similarity >= matchFrom);
  const features = {
    utility: clamp(facts.utility ?? utilityUnknown),
    confidence: estimateConfidence(facts.text, facts.spans),
    novelty: 1 - clamp(Math.max(0, ...facts.pool.map((one) => one.similarity))),
    recency: computeRecency(matches, preset.halfLifeDays),
    typePrior: preset.typePriors[facts.category] ?? categories[facts.category].typePrior,
  };
  const names = Object.keys(features) as (keyof typeof features)[];
  const score = names.reduce((sum, name) => sum + preset.weights[name] * features[name], 0);
  if (score < preset.rejectBelow) return { outcome: "reject", score, features };
  if (score < preset.admitFrom) return { outcome: "hold", score, features };
  return { outcome: "admit", hint: matches.length > 0 ? "update_or_merge" : "add", score, features };
}

/** How well the conversation supports the words of a candidate, 0 to 1. */
export function estimateConfidence(text: string, spans: readonly string[]): number {
  const best = Math.max(0, ...spans.map((span) => computeRougeL(text, span)));
  const covered = computeCoverage(text, spans.join("\n"));
  return clamp(0.7 * best + 0.3 * covered - 0.25 * (1 - covered));
}

/** 1 without a match; otherwise lower the more recently a similar memory was stored. */
function computeRecency(matches: readonly { ageDays: number }[], halfLifeDays: number): number {
  if (matches.length === 0) return 1;
  const gapDays = Math.max(0, Math.min(...matches.map((one) => one.ageDays)));
  return 1 - Math.exp((-Math.LN2 * gapDays) / halfLifeDays);
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value));
}

function omitUndefined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
