import { roles } from "../../domain/index.ts";
import type { EmbedText } from "../../models/index.ts";
import { isOfAgent, type Store } from "../../store/index.ts";
import { decodeEntryText } from "../documents.ts";
import type { SearchContext } from "../search-context.ts";
import { condenseText } from "./condense-text.ts";
import {
  addNewMessages,
  type EmbeddingProgress,
  isInRanges,
  listMissing,
  readProgress,
  shortenNewestGap,
} from "./progress.ts";
import { choosePath, type MessagePath, selectMessagesIn } from "./select-messages.ts";

/** A text to embed, and what its vector belongs to. */
export interface PendingText {
  key: { seq: number; conversation: number; time: number } | { kind: string; id: string; conversation: number | null };
  text: EmbedText;
}

export interface PendingPage {
  items: PendingText[];
  /** The wanted messages that this page is for. */
  asked?: readonly number[];
  /** The progress once this page is written; absent when the page does not change it. */
  progress?: EmbeddingProgress;
}

/** Where the vectors of a page go, and how large the page is. */
export interface PageRequest {
  agent: string;
  space: number;
  rows: number;
  /** Whether long texts are shortened first: for models that take milliseconds for a sentence. */
  condensed: boolean;
}

/** Another process may commit an entry after one with a higher number, so the last rows are checked again. */
const lateRows = 256;
/** Pending messages are counted up to this many where only a note depends on it. */
const countMax = 1_000;

const entryColumns = ["seq", "conversation", "time", "kind", "payload"] as const;

/** The next messages without a vector: those that searches found, then the newest. */
export async function findPendingMessages(
  context: SearchContext,
  request: PageRequest,
): Promise<PendingPage | undefined> {
  const { store, wanted } = context;
  const { agent, space, rows: limit, condensed } = request;
  const known = await readProgress(store, agent, space);
  const asked = condensed ? wanted.list(agent, limit) : [];
  if (asked.length > 0) {
    const items = await toItems(store, request, await readEntriesBySeq(store, agent, asked));
    if (items.length > 0) return { items, asked };
    wanted.remove(agent, asked);
  }
  const path = await choosePath(store, agent, known.gaps.at(-1)?.after ?? known.entrySeq);
  const progress = addNewMessages(known, await findNewest(store, agent, known.entrySeq, path));
  const gap = progress.gaps.at(-1);
  if (!gap) return undefined;
  const rows = await selectMessagesIn(store, agent, gap, path)
    .select(entryColumns)
    .orderBy("seq", "desc")
    .limit(limit)
    .execute();
  const late = progress.entrySeq > known.entrySeq ? await findLateEntries(store, request, known) : [];
  return {
    items: await toItems(store, request, [...late, ...rows]),
    progress: shortenNewestGap(progress, rows.length < limit ? undefined : rows.at(-1)?.seq),
  };
}

/** The summaries, files and corpus chunks without a vector. */
export async function findPendingDocuments(
  context: SearchContext,
  { agent, space, rows }: PageRequest,
): Promise<PendingPage | undefined> {
  const items = [
    ...(await findPendingSummaries(context, agent, space, rows)),
    ...(await findPendingFiles(context, agent, space, rows)),
    ...(await findPendingChunks(context, agent, space, rows)),
  ];
  return items.length === 0 ? undefined : { items };
}

/** Leaves out empty texts and entries that have a vector already. */
async function toItems(
  store: Store,
  { agent, space, condensed }: PageRequest,
  rows: readonly { seq: number; conversation: number; time: number; kind: string; payload: string }[],
): Promise<PendingText[]> {
  const seqs = rows.map((row) => row.seq);
  const made =
    seqs.length === 0
      ? []
      : await store.db
          .selectFrom("entry_vectors")
          .select("seq")
          .where("agent", "=", agent)
          .where("space", "=", space)
          .where("seq", "in", seqs)
          .execute();
  const existing = new Set(made.map((row) => row.seq));
  return rows.flatMap(({ seq, conversation, time, kind, payload }): PendingText[] => {
    if (existing.has(seq)) return [];
    const { text, name } = decodeEntryText(kind, payload);
    if (text.trim() === "") return [];
    const content = condensed ? condenseText(kind, text) : text;
    return [{ key: { seq, conversation, time }, text: { text: content, speaker: name ?? kind } }];
  });
}

async function readEntriesBySeq(store: Store, agent: string, seqs: readonly number[]) {
  return store.db
    .selectFrom("entries")
    .select(entryColumns)
    .where("seq", "in", [...seqs])
    .where(isOfAgent(store, agent))
    .execute();
}

/** The newest message after `seq`; `seq` when there is none. */
async function findNewest(store: Store, agent: string, seq: number, path: MessagePath): Promise<number> {
  const row = await selectMessagesIn(store, agent, { after: seq, upTo: Number.MAX_SAFE_INTEGER }, path)
    .select("seq")
    .orderBy("seq", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.seq ?? seq;
}

async function findLateEntries(store: Store, { agent, space, rows }: PageRequest, known: EmbeddingProgress) {
  if (store.engine === "sqlite") return [];
  const found = await store.db
    .selectFrom("entries as e")
    .select(["e.seq", "e.conversation", "e.time", "e.kind", "e.payload"])
    .where("e.agent", "=", agent)
    .where("e.seq", ">", known.entrySeq - lateRows)
    .where("e.seq", "<=", known.entrySeq)
    .where("e.kind", "in", [...roles])
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("entry_vectors as v")
            .select("v.seq")
            .whereRef("v.agent", "=", "e.agent")
            .where("v.space", "=", space)
            .whereRef("v.seq", "=", "e.seq"),
        ),
      ),
    )
    .orderBy("e.seq")
    .limit(rows)
    .execute();
  return found.filter((row) => !isInRanges(known.gaps, row.seq));
}

/** How many messages have no vector in a space, counted up to a thousand. */
export async function countPendingMessages(
  store: Store,
  agent: string,
  space: number | undefined,
  max = countMax,
): Promise<number> {
  let count = 0;
  const missing = listMissing(await readProgress(store, agent, space));
  const path = await choosePath(store, agent, missing[0]?.after ?? 0);
  if (path === "none") return 0;
  for (const range of missing.reverse()) {
    const left = max - count;
    if (left <= 0) break;
    const rows = selectMessagesIn(store, agent, range, path).select("seq").limit(Math.min(left, countMax));
    if (left <= countMax) count += (await rows.execute()).length;
    else {
      const row = await selectMessagesIn(store, agent, range, path)
        .select((eb) => eb.fn.countAll<number>().as("count"))
        .executeTakeFirst();
      count += Number(row?.count ?? 0);
    }
  }
  return count;
}

async function findPendingSummaries(
  context: SearchContext,
  agent: string,
  space: number,
  limit: number,
): Promise<PendingText[]> {
  const rows = await context.store.db
    .selectFrom("summaries as s")
    .select(["s.id", "s.conversation", "s.content"])
    .where("s.agent", "=", agent)
    .where("s.id", "not in", (eb) =>
      eb
        .selectFrom("document_vectors as v")
        .select("v.id")
        .where("v.agent", "=", agent)
        .where("v.space", "=", space)
        .where("v.kind", "=", "summary"),
    )
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    key: { kind: "summary", id: row.id, conversation: row.conversation },
    text: { text: row.content },
  }));
}

async function findPendingFiles(
  context: SearchContext,
  agent: string,
  space: number,
  limit: number,
): Promise<PendingText[]> {
  const rows = await context.store.db
    .selectFrom("files as f")
    .select(["f.id", "f.name", "f.summary"])
    .where("f.agent", "=", agent)
    .where("f.id", "not in", (eb) =>
      eb
        .selectFrom("document_vectors as v")
        .select("v.id")
        .where("v.agent", "=", agent)
        .where("v.space", "=", space)
        .where("v.kind", "=", "file"),
    )
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    key: { kind: "file", id: row.id, conversation: null },
    text: { text: [row.name ?? "", row.summary].filter(Boolean).join("\n") },
  }));
}

/** By content hash: a text that occurs in two places is embedded once. */
async function findPendingChunks(
  context: SearchContext,
  agent: string,
  space: number,
  limit: number,
): Promise<PendingText[]> {
  const rows = await context.store.db
    .selectFrom("corpus_chunks as c")
    .select((eb) => ["c.hash", eb.fn.min("c.heading").as("heading"), eb.fn.min("c.text").as("text")])
    .where("c.agent", "=", agent)
    .where("c.hash", "not in", (eb) =>
      eb
        .selectFrom("document_vectors as v")
        .select("v.id")
        .where("v.agent", "=", agent)
        .where("v.space", "=", space)
        .where("v.kind", "=", "chunk"),
    )
    .groupBy("c.hash")
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    key: { kind: "chunk", id: row.hash, conversation: null },
    text: { text: [row.heading, row.text].filter(Boolean).join("\n") },
  }));
}

/** How many texts of the corpus have no vector yet, counted up to a thousand. */
export async function countPendingChunks(context: SearchContext, agent: string): Promise<number> {
  return (await findPendingChunks(context, agent, (await context.vectorCache?.id()) ?? -1, countMax)).length;
}
