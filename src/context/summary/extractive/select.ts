import type { Candidate } from "./candidates.ts";
import { tableSize } from "./words.ts";

/** The tokens of a line in addition to its sentence: the speaker and sometimes the time. */
const lineTokens = 3;
/** The weight of a word that was selected already. */
const residue = 0.2;
/** How strongly the cost of a sentence counts against its value; at 1 only the shortest would win. */
const priceExponent = 0.75;

/**
 * Selects sentences, best first, until the budget is spent: each is valued by the new words it adds, by its cost, and
 * less the more of its section was selected already.
 */
export function selectSentences(candidates: readonly Candidate[], budget: number, pinned: Candidate[]): Candidate[] {
  const selected = new Uint8Array(tableSize);
  const chosen: Candidate[] = [];
  const stretches = Math.max(1, Math.min(24, Math.round(budget / 50)));
  const spent = new Array<number>(stretches).fill(0);
  const end = (candidates.at(-1)?.position ?? 0) + 1;
  const stretchOf = (one: Candidate) => Math.floor((one.position * stretches) / end);
  let left = budget;
  const take = (one: Candidate) => {
    chosen.push(one);
    left -= one.tokens + lineTokens;
    const stretch = stretchOf(one);
    spent[stretch] = (spent[stretch] ?? 0) + one.tokens + lineTokens;
    for (const slot of one.slots) selected[slot] = 1;
  };
  for (const one of pinned) if (one.tokens + lineTokens <= left) take(one);
  const share = budget / stretches;
  const worthOf = (one: Candidate) => {
    const crowding = 1 + (spent[stretchOf(one)] ?? 0) / share;
    return (freshWeight(one, selected) * one.factor) / (one.tokens + lineTokens) ** priceExponent / crowding;
  };
  const pins = new Set(chosen);
  let open = candidates.filter((one) => !pins.has(one)).map((one) => ({ one, worth: worthOf(one) }));
  open.sort((a, b) => b.worth - a.worth || a.one.order - b.one.order);
  for (;;) {
    let best: { one: Candidate; worth: number } | undefined;
    open = open.filter(({ one, worth }) => worth > 0 && one.tokens + lineTokens <= left);
    for (const entry of open) {
      // The value of a sentence only decreases, so an outdated value that is too low need not be recomputed.
      if (best !== undefined && entry.worth <= best.worth) continue;
      entry.worth = worthOf(entry.one);
      if (entry.worth > (best?.worth ?? 0)) best = entry;
    }
    if (best === undefined) return chosen;
    take(best.one);
    best.worth = 0;
  }
}

/** A sentence with mostly selected words is a repetition. */
function freshWeight(one: Candidate, selected: Uint8Array): number {
  let sum = 0;
  let repeated = 0;
  for (let index = 0; index < one.slots.length; index += 1) {
    const isSelected = selected[one.slots[index] ?? 0] === 1;
    if (isSelected) repeated += 1;
    sum += (one.weights[index] ?? 0) * (isSelected ? residue : 1);
  }
  return repeated > 0.8 * one.slots.length ? 0 : sum;
}
