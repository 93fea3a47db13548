import { sql } from "kysely";
import type { Store } from "../store/index.ts";

export interface ScanOptions {
  agent: string;
  /** All conversations of the agent when absent. */
  conversations?: readonly number[];
  since?: number;
  before?: number;
  /**
   * The store skips entries that do not contain this string. It must not contain whitespace, because the text of a
   * message joins its parts with whitespace.
   */
  needle?: string;
}

/** The kinds of entries that have a text to scan. */
export const messageKinds = ["system", "user", "assistant", "tool", "custom_message"];

const seqsAtOnce = 100_000;
/**
 * SQLite finds the entries of conversations in the order of an index, not of time, so that each sorted page reads all of
 * them again. Up to this many are read at once and sorted here.
 */
const unsortedMax = 200_000;

/**
 * The sequence numbers of entries that may be messages with the needle, newest first, in large pages. Entries of other
 * kinds may be among them: excluding them here would read every row.
 */
export async function* listCandidates(store: Store, options: ScanOptions): AsyncGenerator<number[]> {
  if (store.engine === "sqlite") {
    const seqs = await findCandidates(store, options, { limit: unsortedMax + 1 });
    if (seqs.length <= unsortedMax) {
      if (seqs.length > 0) yield seqs.sort((a, b) => b - a);
      return;
    }
  }
  for (let below: number | undefined; ; ) {
    const seqs = await findCandidates(store, options, { limit: seqsAtOnce, sorted: true, below });
    if (seqs.length > 0) yield seqs;
    if (seqs.length < seqsAtOnce) return;
    below = seqs.at(-1);
  }
}

interface CandidatePage {
  limit: number;
  sorted?: boolean;
  below?: number;
}

async function findCandidates(store: Store, options: ScanOptions, page: CandidatePage): Promise<number[]> {
  const { agent, conversations, since, before, needle } = options;
  let query = store.db.selectFrom("entries").select("seq").where("agent", "=", agent).limit(page.limit);
  if (conversations !== undefined) query = query.where("conversation", "in", conversations);
  if (since !== undefined) query = query.where("time", ">=", since);
  if (before !== undefined) query = query.where("time", "<", before);
  if (page.below !== undefined) query = query.where("seq", "<", page.below);
  if (page.sorted) query = query.orderBy("seq", "desc");
  if (needle !== undefined && store.sealedWith === undefined) {
    const find = sql.raw(store.engine === "postgres" ? "strpos" : "instr");
    // The payload is JSON, so the needle is searched in its JSON form. Entries with extracted content always qualify.
    const written = JSON.stringify(needle).slice(1, -1);
    query = query
      .where("kind", "in", messageKinds)
      .where(
        sql<boolean>`(${find}(payload, ${written}) > 0 or seq in (select seq from file_refs where agent = ${agent}))`,
      );
  }
  // One value instead of many rows: rows are copied one by one between threads.
  const list = sql<string>`${sql.raw(store.engine === "postgres" ? "json_agg(seq)::text" : "json_group_array(seq)")}`;
  const found = await store.db.selectFrom(query.as("candidates")).select(list.as("seqs")).executeTakeFirst();
  return JSON.parse(found?.seqs ?? "[]") as number[];
}
