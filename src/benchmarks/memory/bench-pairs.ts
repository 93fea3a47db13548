import type { Varve } from "../../index.ts";
import { round } from "../result.ts";
import { type Pair, pairs } from "./pairs/index.ts";

const relations = ["same", "update", "different", "conflict"] as const;
type Relation = (typeof relations)[number];

/** Shares of pairs, 0 to 1. */
export interface PairFigures {
  pairs: number;
  /** Of the memories that were replaced, how many should be; of those that should be, how many were. */
  replacing: { precision: number; recall: number };
  /** The same for repetitions that were not stored again. */
  duplicates: { precision: number; recall: number };
  /** Of the pairs that are different, how many were both kept. */
  differentKept: number;
  /** Of the pairs in conflict, how many were both kept, and how many were linked. */
  conflictKept: number;
  conflictLinked: number;
}

type Counts = Record<Relation, Record<Relation, number>>;

/** Stores the sentences of each pair in a scope of their own and compares what happened with their relation. */
export async function benchPairs(
  varve: Varve,
  onProgress: (done: number, total: number) => void,
): Promise<Record<string, PairFigures>> {
  const total = pairs.reduce((sum, one) => sum + relations.reduce((count, name) => count + one[name].length, 0), 0);
  let done = 0;
  const all = createCounts();
  const figures: Record<string, PairFigures> = {};
  for (const set of pairs) {
    const counts = createCounts();
    for (const relation of relations) {
      for (const [index, pair] of set[relation].entries()) {
        const found = await storePair(varve, `pair-${set.language}-${relation}-${index}`, pair);
        counts[relation][found] += 1;
        all[relation][found] += 1;
        done += 1;
        if (done % 50 === 0) onProgress(done, total);
      }
    }
    figures[set.language] = computeFigures(counts);
  }
  return { ...figures, all: computeFigures(all) };
}

async function storePair(varve: Varve, agent: string, [known, stated]: Pair): Promise<Relation> {
  await varve.memory.add({ agent, text: known });
  const { decision, conflicts } = await varve.memory.add({ agent, text: stated });
  if (decision === "supersede" || decision === "merge") return "update";
  if (decision === "skip" || decision === "support") return "same";
  return conflicts === undefined ? "different" : "conflict";
}

function createCounts(): Counts {
  const none = () => ({ same: 0, update: 0, different: 0, conflict: 0 });
  return { same: none(), update: none(), different: none(), conflict: none() };
}

function computeFigures(counts: Counts): PairFigures {
  const found = (relation: Relation) => relations.reduce((sum, name) => sum + counts[name][relation], 0);
  const stated = (relation: Relation) => relations.reduce((sum, name) => sum + counts[relation][name], 0);
  const share = (part: number, of: number) => round(of === 0 ? 1 : part / of);
  const rate = (relation: Relation) => ({
    precision: share(counts[relation][relation], found(relation)),
    recall: share(counts[relation][relation], stated(relation)),
  });
  const kept = (relation: Relation) => counts[relation].different + counts[relation].conflict;
  return {
    pairs: relations.reduce((sum, name) => sum + stated(name), 0),
    replacing: rate("update"),
    duplicates: rate("same"),
    differentKept: share(kept("different"), stated("different")),
    conflictKept: share(kept("conflict"), stated("conflict")),
    conflictLinked: share(counts.conflict.conflict, stated("conflict")),
  };
}
