import type { Store } from "../store/index.ts";
import type { TranscriptRef } from "./append.ts";
import { readActivePath, type Segment } from "./path.ts";

/**
 * Finds the first entry of the active branch from a time on by bisection: about 20 reads at any length. Entries are
 * nearly in the order of their times; where an import mixed them, the result is near the time.
 */
export async function findTime(
  store: Store,
  ref: Omit<TranscriptRef, "transcript">,
  time: number,
): Promise<number | undefined> {
  const path = await readActivePath(store, ref);
  let [low, high] = [1, path.at(-1)?.upTo ?? 0];
  let found: number | undefined;
  while (low <= high) {
    const middle = Math.floor((low + high) / 2);
    const entry = await findFrom(store, ref.agent, path, middle);
    if (entry === undefined || entry.time >= time) {
      if (entry) found = entry.seq;
      high = middle - 1;
    } else low = Math.max(entry.seq, middle) + 1;
  }
  return found;
}

/** The first entry of a path from a sequence number on. */
async function findFrom(
  store: Store,
  agent: string,
  path: readonly Segment[],
  seq: number,
): Promise<{ seq: number; time: number } | undefined> {
  for (const segment of path) {
    if (segment.upTo < seq) continue;
    const row = await store.db
      .selectFrom("entries")
      .select(["seq", "time"])
      .where("agent", "=", agent)
      .where("conversation", "=", segment.conversation)
      .where("branch", "=", segment.branch)
      .where("seq", ">=", seq)
      .where("seq", "<=", segment.upTo)
      .orderBy("seq")
      .limit(1)
      .executeTakeFirst();
    if (row) return row;
  }
  return undefined;
}
