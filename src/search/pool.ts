import type { Doc } from "./documents.ts";

/** The documents around the candidates, each knowing its neighbours, as numbers into one list. */
export interface Pool {
  docs: readonly Doc[];
  /** The neighbours before and after, nearest first; -1 where there is none. */
  before: readonly number[];
  after: readonly number[];
}

/** Documents of one branch that follow each other are neighbours. They come in order of their number. */
export function collectPool(docs: readonly Doc[]): Pool {
  const before = docs.map(() => -1);
  const after = docs.map(() => -1);
  const last = new Map<string, number>();
  for (const [index, doc] of docs.entries()) {
    if (doc.kind !== "message") continue;
    const branch = `${doc.conversation}:${doc.branch}`;
    const previous = last.get(branch);
    if (previous !== undefined) {
      before[index] = previous;
      after[previous] = index;
    }
    last.set(branch, index);
  }
  return { docs, before, after };
}

/** The documents within a distance, with that distance: the document itself first. */
export function around(pool: Pool, index: number, distance: number): { index: number; distance: number }[] {
  const found = [{ index, distance: 0 }];
  for (const links of [pool.before, pool.after]) {
    let at = index;
    for (let step = 1; step <= distance; step += 1) {
      at = links[at] ?? -1;
      if (at < 0) break;
      found.push({ index: at, distance: step });
    }
  }
  return found;
}
