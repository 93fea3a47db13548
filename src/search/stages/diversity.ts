import type { Candidate } from "../candidate.ts";
import { ranking } from "../ranking.ts";

/**
 * Maximal marginal relevance over the front of the list: what says the same as something above it moves back by how
 * alike the two are. Texts that differ are not touched, and nothing vanishes.
 */
export function diversify(
  candidates: readonly Candidate[],
  front: number,
  same: number,
  likeness: (a: Candidate, b: Candidate) => number | undefined,
): Candidate[] {
  const { lambda } = ranking.stages.diversity;
  const open = candidates.filter((candidate) => !candidate.behind);
  const behind = candidates.filter((candidate) => candidate.behind);
  const waiting = open.slice(0, front).map((candidate) => ({ candidate, alike: 0 }));
  const chosen: Candidate[] = [];
  while (waiting.length > 0) {
    let best = 0;
    for (let index = 1; index < waiting.length; index += 1) {
      if (value(waiting[index]) > value(waiting[best])) best = index;
    }
    const [next] = waiting.splice(best, 1);
    if (!next) break;
    if (next.alike > 0) next.candidate.notes.push("moved back: says the same as a result above");
    chosen.push(next.candidate);
    for (const other of waiting) {
      const alike = likeness(next.candidate, other.candidate) ?? 0;
      if (alike >= same) other.alike = Math.max(other.alike, alike);
    }
  }
  return [...chosen, ...open.slice(front), ...behind];

  function value(item: { candidate: Candidate; alike: number } | undefined): number {
    return item ? lambda * item.candidate.score - (1 - lambda) * item.alike * item.candidate.score : 0;
  }
}
