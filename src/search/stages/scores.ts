import { type Candidate, compareByScore } from "../candidate.ts";
import { type RankingSettings, ranking } from "../ranking.ts";

const dayMs = 86_400_000;

/** Adds a bonus that decays exponentially with age. */
export function applyRecency(candidates: readonly Candidate[], now: number, settings: RankingSettings): void {
  const { recencyWeight: weight, recencyDays: days } = settings;
  for (const candidate of candidates) {
    const ageDays = Math.max(0, now - candidate.doc.time) / dayMs;
    candidate.score += weight * Math.exp(-ageDays / days);
  }
}

/** Penalises long texts, which match by length alone, down to a floor. */
export function applyLengthPenalty(candidates: readonly Candidate[]): void {
  const { characters, slope, least } = ranking.stages.length;
  for (const candidate of candidates) {
    const factor = 1 / (1 + slope * Math.log2(Math.max(candidate.doc.text.length / characters, 1)));
    candidate.score *= Math.max(least, factor);
  }
}

/** Decays dated notes with age, down to a floor. Files without a date in their name do not decay. */
export function applyDecay(candidates: readonly Candidate[], now: number, settings: RankingSettings): void {
  const { noteDecayFloor: least, noteDecayDays: days } = settings;
  for (const candidate of candidates) {
    if (!candidate.doc.dated) continue;
    const ageDays = Math.max(0, now - candidate.doc.time) / dayMs;
    candidate.score *= least + (1 - least) * Math.exp(-ageDays / days);
  }
}

export interface FilteredCandidates {
  remaining: Candidate[];
  /** How many were removed. */
  removed: number;
}

export function filterByMinScore(candidates: readonly Candidate[], least: number): FilteredCandidates {
  const remaining = candidates.filter((candidate) => candidate.score >= least);
  return { remaining, removed: candidates.length - remaining.length };
}

const weakKept = 3;

/** The final filter. If it would remove every lexical match, the best ones stay and are marked weak. */
export function filterByFinalMinScore(candidates: readonly Candidate[], least: number): FilteredCandidates {
  const remaining = candidates.filter((candidate) => candidate.score >= least);
  const lexical = (candidate: Candidate) => candidate.sources.includes("lexical");
  if (!remaining.some(lexical)) {
    const best = candidates
      .filter((candidate) => lexical(candidate) && !remaining.includes(candidate))
      .sort(compareByScore);
    for (const candidate of best.slice(0, weakKept)) {
      candidate.notes.push("weak: below the minimum score, included because its words match");
      remaining.push(candidate);
    }
  }
  return { remaining, removed: candidates.length - remaining.length };
}
