import { sql } from "kysely";
import type { Entry } from "../domain/index.ts";
import type { Store } from "../store/index.ts";
import { movedField } from "./large-content/moved.ts";
import { readEntries } from "./read.ts";

export interface ScanOptions {
  agent: string;
  /** All of the agent's when absent. */
  conversations?: number[];
  since?: number;
  before?: number;
  /** Entries that cannot hold this are skipped by the store. It must be free of blanks: a message's parts are joined by them. */
  needle?: string;
}

const seqsAtOnce = 100_000;
const entriesAtOnce = 1_000;

/** Every message that may hold the needle, newest first, in pages, with large content in its place. */
export async function* scanMessageEntries(
  store: Store,
  options: ScanOptions,
): AsyncGenerator<(Entry & { conversation: number })[]> {
  for (let below: number | undefined; ; ) {
    const seqs = await candidates(store, options, below);
    for (let from = 0; from < seqs.length; from += entriesAtOnce) {
      const page = seqs.slice(from, from + entriesAtOnce);
      yield (await readEntries(store, options.agent, page)).reverse();
    }
    if (seqs.length < seqsAtOnce) return;
    below = seqs.at(-1);
  }
}

async function candidates(store: Store, options: ScanOptions, below: number | undefined): Promise<number[]> {
  const { agent, conversations, since, before, needle } = options;
  let query = store.db
    .selectFrom("entries")
    .select("seq")
    .where("agent", "=", agent)
    .where("kind", "in", ["system", "user", "assistant", "tool", "custom_message"]);
  if (conversations !== undefined) query = query.where("conversation", "in", conversations);
  if (since !== undefined) query = query.where("time", ">=", since);
  if (before !== undefined) query = query.where("time", "<", before);
  if (below !== undefined) query = query.where("seq", "<", below);
  if (needle !== undefined) {
    const find = sql.raw(store.engine === "postgres" ? "strpos" : "instr");
    // The payload is JSON, so the needle is looked for as JSON writes it; what was moved aside may hold anything.
    const written = JSON.stringify(needle).slice(1, -1);
    query = query.where(
      sql<boolean>`(${find}(payload, ${written}) > 0 or ${find}(payload, ${`"${movedField}":[`}) > 0)`,
    );
  }
  const rows = await query.orderBy("seq", "desc").limit(seqsAtOnce).execute();
  return rows.map((row) => row.seq);
}
