import { sql } from "kysely";
import { isOfAgent, type Store } from "../store/index.ts";
import { parseBody, readPayloads } from "./codec.ts";
import { getEntryText } from "./entry-text.ts";

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

/** A message as full-text scans see it. */
export interface ScannedMessage {
  seq: number;
  conversation: number;
  time: number;
  /** The role of the message, or the type of its entry. */
  kind: string;
  text: string;
}

const seqsAtOnce = 100_000;
const messagesAtOnce = 500;
/** Pages read ahead while the caller processes earlier ones. */
const pagesAhead = 3;

/** Every message that may contain the needle, newest first, in pages, with large content restored. */
export async function* scanMessages(store: Store, options: ScanOptions): AsyncGenerator<ScannedMessage[]> {
  for (let below: number | undefined; ; ) {
    const seqs = await findCandidates(store, options, below);
    const waiting: Promise<ScannedMessage[]>[] = [];
    let from = 0;
    while (from < seqs.length || waiting.length > 0) {
      while (from < seqs.length && waiting.length < pagesAhead) {
        waiting.push(readTexts(store, options.agent, seqs.slice(from, from + messagesAtOnce)));
        from += messagesAtOnce;
      }
      const page = waiting.shift();
      if (page) yield await awaitPage(page, waiting);
    }
    if (seqs.length < seqsAtOnce) return;
    below = seqs.at(-1);
  }
}

/** When a page fails, waits for the others so that their errors are handled too. */
async function awaitPage<T>(page: Promise<T>, others: Promise<T>[]): Promise<T> {
  try {
    return await page;
  } catch (error) {
    await Promise.allSettled(others);
    throw error;
  }
}

async function readTexts(store: Store, agent: string, seqs: number[]): Promise<ScannedMessage[]> {
  const rows = await store.db
    .selectFrom("entries")
    .select(["seq", "conversation", "time", "kind", "payload"])
    .where("seq", "in", seqs)
    .where(isOfAgent(store, agent))
    .orderBy("seq", "desc")
    .execute();
  const payloads = await readPayloads(store, agent, rows, "original");
  return rows.map(({ seq, conversation, time, kind }, index) => ({
    seq,
    conversation,
    time,
    kind,
    text: getEntryText(parseBody(kind, payloads[index] ?? {})),
  }));
}

async function findCandidates(store: Store, options: ScanOptions, below: number | undefined): Promise<number[]> {
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
  if (needle !== undefined && store.sealedWith === undefined) {
    const find = sql.raw(store.engine === "postgres" ? "strpos" : "instr");
    // The payload is JSON, so the needle is searched in its JSON form. Entries with extracted content always qualify.
    const written = JSON.stringify(needle).slice(1, -1);
    query = query.where(
      sql<boolean>`(${find}(payload, ${written}) > 0 or seq in (select seq from file_refs where agent = ${agent}))`,
    );
  }
  const rows = await query.orderBy("seq", "desc").limit(seqsAtOnce).execute();
  return rows.map((row) => row.seq);
}
