import { type Candidate, compareByScore, type RankedCandidate } from "../fuse.ts";
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

export interface FilteredCandidates<T extends RankedCandidate = Candidate> {
  remaining: T[];
  /** How many were removed. */
  removed: number;
}

export function filterByMinScore(candidates: readonly Candidate[], least: number): FilteredCandidates {
  const remaining = candidates.filter((candidate) => candidate.score >= least);
  return { remaining, removed: candidates.length - remaining.length };
}

const weakKept = 3;

/** The final filter. If it would remove every lexical match, the best ones stay and are marked weak. */
export function filterByFinalMinScore<T extends RankedCandidate>(
  candidates: readonly T[],
  least: number,
): FilteredCandidates<T> {
  const remaining = candidates.filter((candidate) => candidate.score >= least);
  const lexical = (candidate: T) => candidate.sources.includes("lexical");
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

/**
 * Maximal marginal relevance over the first `front` candidates: a near-duplicate of a higher result moves down in
 * proportion to its similarity. Other candidates keep their order, and none is removed.
 */
export function diversify<T extends RankedCandidate>(
  candidates: readonly T[],
  { front, same, lambda }: { front: number; same: number; lambda: number },
  likeness: (a: T, b: T) => number | undefined,
): T[] {
  const open = candidates.filter((candidate) => !candidate.ranksLast);
  const last = candidates.filter((candidate) => candidate.ranksLast);
  const waiting = open.slice(0, front).map((candidate) => ({ candidate, alike: 0 }));
  const chosen: T[] = [];
  while (waiting.length > 0) {
    let best = 0;
    for (let index = 1; index < waiting.length; index += 1) {
      if (value(waiting[index]) > value(waiting[best])) best = index;
    }
    const [next] = waiting.splice(best, 1);
    if (!next) break;
    if (next.alike > 0) next.candidate.notes.push("moved down: near-duplicate of a higher result");
    chosen.push(next.candidate);
    for (const other of waiting) {
      const alike = likeness(next.candidate, other.candidate) ?? 0;
      if (alike >= same) other.alike = Math.max(other.alike, alike);
    }
  }
  return [...chosen, ...open.slice(front), ...last];

  function value(item: { candidate: T; alike: number } | undefined): number {
    return item ? lambda * item.candidate.score - (1 - lambda) * item.alike * item.candidate.score : 0;
  }
}

/** Texts that match many queries and answer none. All patterns have a length limit: longer texts carry information. */
const shortMax = 160;
const noise: readonly { name: string; pattern: RegExp; lengthMax: number }[] = [
  {
    name: "a greeting",
    pattern:
      /^(hi|hello|hey|good (morning|evening|night)|thanks?( you)?|ok(ay)?|bye|hallo|danke|bonjour|merci|hola|gracias|你好|谢谢)\b[\s\p{P}\p{So}\p{L}]{0,24}$/iu,
    lengthMax: 40,
  },
  {
    name: "a refusal",
    pattern:
      /\b(i('m| am) (sorry|unable)|i (can(no|')t|do(n't| not)) (help|have (any )?(memory|information|record|access)|recall|remember))\b/i,
    lengthMax: shortMax,
  },
  {
    name: "a question about memory",
    pattern: /^(do|can|did|what do) you (still )?(remember|recall|know about me)\b.*\?$/i,
    lengthMax: shortMax,
  },
  {
    name: "a diagnostic",
    pattern: /^(ping|pong|test(ing)?( \d+)*|heartbeat(_ok)?|no_reply|health ?check)[.!]?$/i,
    lengthMax: 40,
  },
];

export function detectNoise(text: string): string | undefined {
  const trimmed = text.trim();
  return noise.find(({ pattern, lengthMax }) => trimmed.length <= lengthMax && pattern.test(trimmed))?.name;
}

/** Moves noise to the end; nothing is removed. */
export function moveNoiseLast<T extends RankedCandidate>(candidates: readonly T[]): T[] {
  const last: T[] = [];
  const front = candidates.filter((candidate) => {
    const name = detectNoise(candidate.doc.text);
    if (name === undefined) return true;
    candidate.notes.push(`moved to the end: ${name}`);
    candidate.ranksLast = true;
    last.push(candidate);
    return false;
  });
  return [...front, ...last];
}
