import { type Category, categories } from "./memory.ts";
import { coverage, rougeL } from "./similarity.ts";

/** How much each feature counts, and from where on a candidate is let in or turned away. */
export interface AdmissionPreset {
  rejectBelow: number;
  admitFrom: number;
  weights: { utility: number; confidence: number; novelty: number; recency: number; typePrior: number };
  /** How many memories a candidate is held against. */
  pool: number;
  halfLifeDays: number;
}

export const admissionPresets = {
  balanced: {
    rejectBelow: 0.45,
    admitFrom: 0.6,
    weights: { utility: 0.1, confidence: 0.1, novelty: 0.1, recency: 0.1, typePrior: 0.6 },
    pool: 8,
    halfLifeDays: 14,
  },
  conservative: {
    rejectBelow: 0.52,
    admitFrom: 0.68,
    weights: { utility: 0.16, confidence: 0.16, novelty: 0.18, recency: 0.08, typePrior: 0.42 },
    pool: 10,
    halfLifeDays: 10,
  },
  "high-recall": {
    rejectBelow: 0.34,
    admitFrom: 0.52,
    weights: { utility: 0.08, confidence: 0.1, novelty: 0.08, recency: 0.14, typePrior: 0.6 },
    pool: 6,
    halfLifeDays: 21,
  },
} as const satisfies Record<string, AdmissionPreset>;

/** From this cosine on, a memory of the pool is a match. */
const matchFrom = 0.55;
/** What is assumed of a candidate whose utility no model judged. */
export const utilityUnknown = 0.5;

export interface AdmissionFacts {
  category: Category;
  /** The candidate's own words. */
  text: string;
  /** Pieces of the conversation it may rest on. */
  spans: readonly string[];
  /** What a model makes of its use, 0 to 1. */
  utility?: number;
  /** The memories nearest to it. */
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
    recency: recencyOf(matches, preset.halfLifeDays),
    typePrior: categories[facts.category].typePrior,
  };
  const names = Object.keys(features) as (keyof typeof features)[];
  const score = names.reduce((sum, name) => sum + preset.weights[name] * features[name], 0);
  if (score < preset.rejectBelow) return { outcome: "reject", score, features };
  if (score < preset.admitFrom) return { outcome: "hold", score, features };
  return { outcome: "admit", hint: matches.length > 0 ? "update_or_merge" : "add", score, features };
}

/** How well the words of a candidate are found in what was said. */
export function estimateConfidence(text: string, spans: readonly string[]): number {
  const best = Math.max(0, ...spans.map((span) => rougeL(text, span)));
  const covered = coverage(text, spans.join("\n"));
  return clamp(0.7 * best + 0.3 * covered - 0.25 * (1 - covered));
}

/** Something that nothing like it was kept for, or not for long, is worth more than the same said again at once. */
function recencyOf(matches: readonly { ageDays: number }[], halfLifeDays: number): number {
  if (matches.length === 0) return 1;
  const gapDays = Math.max(0, Math.min(...matches.map((one) => one.ageDays)));
  return 1 - Math.exp((-Math.LN2 * gapDays) / halfLifeDays);
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value));
}
