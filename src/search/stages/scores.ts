import { byScore, type Candidate } from "../candidate.ts";
import { ranking } from "../ranking.ts";

const dayMs = 86_400_000;

/** What happened lately is a little likelier to be meant. */
export function recency(candidates: readonly Candidate[], now: number): void {
  const { weight, days } = ranking.stages.recency;
  for (const candidate of candidates) {
    const ageDays = Math.max(0, now - candidate.doc.time) / dayMs;
    candidate.score += weight * Math.exp(-ageDays / days);
  }
}

/** A long text matches by its length; it keeps at least a part of its score. */
export function length(candidates: readonly Candidate[]): void {
  const { characters, slope, least } = ranking.stages.length;
  for (const candidate of candidates) {
    const factor = 1 / (1 + slope * Math.log2(Math.max(candidate.doc.text.length / characters, 1)));
    candidate.score *= Math.max(least, factor);
  }
}

export interface Kept {
  kept: Candidate[];
  /** How many were left out. */
  out: number;
}

export function minScore(candidates: readonly Candidate[], least: number): Kept {
  const kept = candidates.filter((candidate) => candidate.score >= least);
  return { kept, out: candidates.length - kept.length };
}

const weakKept = 3;

/** The last bar. If it would drop every lexical match, the best ones stay, marked weak. */
export function hardMinScore(candidates: readonly Candidate[], least: number): Kept {
  const kept = candidates.filter((candidate) => candidate.score >= least);
  const lexical = (candidate: Candidate) => candidate.sources.includes("lexical");
  if (!kept.some(lexical)) {
    const best = candidates.filter((candidate) => lexical(candidate) && !kept.includes(candidate)).sort(byScore);
    for (const candidate of best.slice(0, weakKept)) {
      candidate.notes.push("weak: below the least score, kept because its words match");
      kept.push(candidate);
    }
  }
  return { kept, out: candidates.length - kept.length };
}
