import type { Candidate } from "../candidate.ts";

/**
 * Maximal marginal relevance over the first `front` candidates: a near-duplicate of a higher result moves down in
 * proportion to its similarity. Other candidates keep their order, and none is removed.
 */
export function diversify(
  candidates: readonly Candidate[],
  { front, same, lambda }: { front: number; same: number; lambda: number },
  likeness: (a: Candidate, b: Candidate) => number | undefined,
): Candidate[] {
  const open = candidates.filter((candidate) => !candidate.ranksLast);
  const last = candidates.filter((candidate) => candidate.ranksLast);
  const waiting = open.slice(0, front).map((candidate) => ({ candidate, alike: 0 }));
  const chosen: Candidate[] = [];
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

  function value(item: { candidate: Candidate; alike: number } | undefined): number {
    return item ? lambda * item.candidate.score - (1 - lambda) * item.alike * item.candidate.score : 0;
  }
}
