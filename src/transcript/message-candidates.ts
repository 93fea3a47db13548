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

/** How candidates are listed; tests use smaller numbers. */
const pageSizes = {
  /** The size of a page. */
  seqsAtOnce: 100_000,
  /** SQLite lists up to this many in one page, whose order is made here. */
  unsortedMax: 200_000,
};

/**
 * The sequence numbers of entries that may be messages with the needle, newest first, in large pages. Entries of other
 * kinds may be among them: excluding them here would read every row.
 */
export async function* listCandidates(
  store: Store,
  options: ScanOptions,
  sizes: typeof pageSizes = pageSizes,
): AsyncGenerator<number[]> {
  if (store.engine === "sqlite") {
    const seqs = await findCandidates(store, options, { limit: sizes.unsortedMax + 1 });
    if (seqs.length > sizes.unsortedMax) yield* listByRanges(store, options, sizes.seqsAtOnce);
    else if (seqs.length > 0) yield sortNewestFirst(seqs);
    return;
  }
  const limit = sizes.seqsAtOnce;
  for (let upTo: number | undefined; ; ) {
    const seqs = await findCandidates(store, options, { limit, sorted: true, upTo });
    if (seqs.length > 0) yield seqs;
    if (seqs.length < limit) return;
    upTo = (seqs.at(-1) as number) - 1;
  }
}

/** A range of the log has at most this many times the numbers of a page: all of them may be wanted. */
const widthsMax = 16;

/**
 * SQLite finds the entries of conversations in the order of an index, not of their numbers. A page of the newest would read
 * and sort all of them; a range of numbers is read from the index alone.
 */
async function* listByRanges(store: Store, options: ScanOptions, wanted: number): AsyncGenerator<number[]> {
  const { agent, conversations } = options;
  let query = store.db
    .selectFrom("transcripts")
    .select((eb) => [eb.fn.min("first_seq").as("low"), eb.fn.max("last_seq").as("high")])
    .where("agent", "=", agent);
  if (conversations !== undefined) query = query.where("conversation", "in", conversations);
  const { low, high } = (await query.executeTakeFirst()) ?? {};
  const first = low ?? 0;
  let width = wanted;
  for (let upTo = high ?? -1; upTo >= first; ) {
    const seqs = await findCandidates(store, options, { after: upTo - width, upTo });
    if (seqs.length > 0) yield sortNewestFirst(seqs);
    upTo -= width;
    // Between the entries of a small agent are those of others.
    width = seqs.length < wanted / 4 ? Math.min(2 * width, widthsMax * wanted) : wanted;
  }
}

function sortNewestFirst(seqs: number[]): number[] {
  return seqs.sort((a, b) => b - a);
}

interface CandidatePage {
  limit?: number;
  sorted?: boolean;
  /** The numbers after `after`, up to and including `upTo`. */
  after?: number;
  upTo?: number;
}

async function findCandidates(store: Store, options: ScanOptions, page: CandidatePage): Promise<number[]> {
  const { agent, conversations, since, before, needle } = options;
  let query = store.db.selectFrom("entries").select("seq").where("agent", "=", agent);
  if (page.limit !== undefined) query = query.limit(page.limit);
  if (conversations !== undefined) query = query.where("conversation", "in", conversations);
  if (since !== undefined) query = query.where("time", ">=", since);
  if (before !== undefined) query = query.where("time", "<", before);
  if (page.upTo !== undefined) query = query.where("seq", "<=", page.upTo);
  if (page.after !== undefined) query = query.where("seq", ">", page.after).where(isInBranches(options));
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

/** Names conversations and branches, so that the index is used up to the number of an entry. */
function isInBranches({ agent, conversations }: ScanOptions) {
  const all = sql`conversation in (select id from conversations where agent = ${agent}) and`;
  return sql<boolean>`(${conversations === undefined ? all : sql``}
    branch in (select distinct branch from branches where agent = ${agent}))`;
}
