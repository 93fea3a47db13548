import type { Store } from "../store/index.ts";
import { readSourceIds, readSummaries, type StoredSummary } from "./dag.ts";

/**
 * Where the messages of a session id begin. Earlier messages are in its context only through summaries of at least
 * `retainDepth`.
 */
export interface SessionBoundary {
  seq: number;
  retainDepth: number;
}

/** A retain depth of -1 keeps everything: then there is no boundary. */
export function toBoundary(seq: number | null | undefined, retainDepth: number): SessionBoundary | undefined {
  return seq === null || seq === undefined || retainDepth < 0 ? undefined : { seq, retainDepth };
}

/** Whether a summary belongs to the context of the session. */
export function isRetained(summary: StoredSummary, boundary: SessionBoundary | undefined): boolean {
  if (boundary === undefined || summary.firstSeq >= boundary.seq) return true;
  return summary.depth >= boundary.retainDepth;
}

/**
 * Replaces summaries that cover messages on both sides of the boundary, and are not deep enough to be retained, by their
 * sources. A leaf cannot be divided: the list ends before it, and its messages count as raw ones.
 */
export async function openAcrossBoundary(
  store: Store,
  agent: string,
  summaries: StoredSummary[],
  boundary: SessionBoundary,
): Promise<StoredSummary[]> {
  const { seq, retainDepth } = boundary;
  const index = summaries.findIndex((one) => one.firstSeq < seq && one.lastSeq >= seq && one.depth < retainDepth);
  const spanning = summaries[index];
  if (spanning === undefined) return summaries;
  const before = summaries.slice(0, index);
  if (spanning.kind === "leaf") return before;
  const ids = (await readSourceIds(store.db, agent, [spanning])).get(spanning.id) ?? [];
  const sources = await readSummaries(store.db, agent, ids);
  const opened = await openAcrossBoundary(store, agent, sources, boundary);
  // Where a leaf was dropped, nothing may follow it.
  const isWhole = opened.at(-1)?.lastSeq === spanning.lastSeq;
  return [...before, ...opened, ...(isWhole ? summaries.slice(index + 1) : [])];
}

/** The last entry that is not shown as a message: covered by summaries, or before the session. */
export function rawAfter(coveredSeq: number, boundary: SessionBoundary | undefined): number {
  return Math.max(coveredSeq, (boundary?.seq ?? 1) - 1);
}
