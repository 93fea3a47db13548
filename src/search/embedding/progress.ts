import type { Store } from "../../store/index.ts";

/** The sequence numbers after `after`, up to and including `upTo`. */
export interface SeqRange {
  after: number;
  upTo: number;
}

/** How far the messages of an agent are embedded in a space. The newest are embedded first, so there may be gaps. */
export interface EmbeddingProgress {
  /** Every message up to this one has a vector or is in a gap. */
  entrySeq: number;
  /** Messages without a vector, in ascending order. */
  gaps: readonly SeqRange[];
}

export const noProgress: EmbeddingProgress = { entrySeq: 0, gaps: [] };

export async function readProgress(
  store: Pick<Store, "db">,
  agent: string,
  space: number | undefined,
): Promise<EmbeddingProgress> {
  if (space === undefined) return noProgress;
  const row = await store.db
    .selectFrom("search_states")
    .select(["entry_seq", "gaps"])
    .where("agent", "=", agent)
    .where("space", "=", space)
    .executeTakeFirst();
  return row ? { entrySeq: row.entry_seq, gaps: parseGaps(row.gaps) } : noProgress;
}

/** The form of the gaps in the database: a JSON list of pairs. */
export function formatGaps(gaps: readonly SeqRange[]): string {
  return JSON.stringify(gaps.map(({ after, upTo }) => [after, upTo]));
}

export function parseGaps(text: string): SeqRange[] {
  return (JSON.parse(text) as [number, number][]).map(([after, upTo]) => ({ after, upTo }));
}

/** Adds new messages as a gap of their own. */
export function addNewMessages({ entrySeq, gaps }: EmbeddingProgress, newest: number): EmbeddingProgress {
  if (newest <= entrySeq) return { entrySeq, gaps };
  return { entrySeq: newest, gaps: [...gaps, { after: entrySeq, upTo: newest }] };
}

/** Shortens the newest gap from its end: everything from `from` on has a vector; without it, the gap is closed. */
export function shortenNewestGap({ entrySeq, gaps }: EmbeddingProgress, from: number | undefined): EmbeddingProgress {
  const newest = gaps.at(-1);
  const others = gaps.slice(0, -1);
  if (!newest || from === undefined || from - 1 <= newest.after) return { entrySeq, gaps: others };
  return { entrySeq, gaps: [...others, { after: newest.after, upTo: from - 1 }] };
}

/** All sequence numbers without a vector, those of messages that are still to come included. */
export function listMissing({ entrySeq, gaps }: EmbeddingProgress): SeqRange[] {
  return [...gaps, { after: entrySeq, upTo: Number.MAX_SAFE_INTEGER }];
}

/** Messages that are missing in one space and have a vector in another. */
export function listCoveredByOther(own: EmbeddingProgress, other: EmbeddingProgress): SeqRange[] {
  const beyond = { after: other.entrySeq, upTo: Number.MAX_SAFE_INTEGER };
  return subtractRanges(listMissing(own), [...other.gaps, beyond]);
}

export function isInRanges(ranges: readonly SeqRange[], seq: number): boolean {
  return ranges.some(({ after, upTo }) => seq > after && seq <= upTo);
}

/** The parts of some ranges that are in none of the others, in the order of the first. */
export function subtractRanges(ranges: readonly SeqRange[], others: readonly SeqRange[]): SeqRange[] {
  let left = [...ranges];
  for (const other of others) left = left.flatMap((range) => subtract(range, other));
  return left;
}

/** The same numbers in as few ranges as possible, in ascending order. */
export function mergeRanges(ranges: readonly SeqRange[]): SeqRange[] {
  const merged: SeqRange[] = [];
  for (const range of [...ranges].sort((a, b) => a.after - b.after)) {
    const last = merged.at(-1);
    if (last && range.after <= last.upTo) last.upTo = Math.max(last.upTo, range.upTo);
    else merged.push({ ...range });
  }
  return merged;
}

function subtract(range: SeqRange, gap: SeqRange): SeqRange[] {
  if (gap.upTo <= range.after || gap.after >= range.upTo || gap.upTo <= gap.after) return [range];
  return [
    { after: range.after, upTo: Math.min(range.upTo, gap.after) },
    { after: Math.max(range.after, gap.upTo), upTo: range.upTo },
  ].filter(({ after, upTo }) => upTo > after);
}
