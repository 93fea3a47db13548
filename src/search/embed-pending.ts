import { sql } from "kysely";
import { roles } from "../domain/index.ts";
import { type Embedded, type EmbedText, formatSpaceName, toBytes } from "../models/index.ts";
import { dropLease, type Lease, type Schema, type Store, takeLease } from "../store/index.ts";
import type { SearchContext } from "./search-context.ts";
import { unsigned } from "./vectors/math.ts";
import { makeSpace } from "./vectors/spaces.ts";

export interface EmbedPendingOptions {
  /** Whose messages; everybody's when absent. */
  agent?: string;
  signal?: AbortSignal;
  /** Stop after this long; the next call goes on from there. */
  msMax?: number;
  onProgress?(embedded: number, behind: number): void;
}

export interface EmbedPendingResult {
  status: "done" | "stopped" | "busy" | "no model";
  embedded: number;
  /** Texts so long that their end was left to the text index. */
  cutTexts: number;
  because?: string;
}

const pageRows = 32;
const leaseMs = 60_000;
/** Another process may commit an entry a little after one with a higher number: the last ones are looked at again. */
const lateRows = 256;

/**
 * Brings the vectors up to the log. Appending writes no vectors, so that it stays fast; this follows behind, in pages,
 * each in one short transaction with how far it came. Killed at any instant it goes on from the last page.
 */
export async function embedPending(
  room: SearchContext,
  owner: string,
  options: EmbedPendingOptions = {},
): Promise<EmbedPendingResult> {
  const result: EmbedPendingResult = { status: "done", embedded: 0, cutTexts: 0 };
  if (!room.embedder || !room.vectorCache)
    return { ...result, status: "no model", because: "no embedding model is installed" };
  const space = await spaceId(room);
  const until = options.msMax === undefined ? Number.POSITIVE_INFINITY : performance.now() + options.msMax;
  const agents = options.agent === undefined ? await agentsOf(room) : [options.agent];
  for (const agent of agents) {
    const name = `embed:${space}:${agent}`;
    let lease = await takeLease(room.store, name, owner, room.clock.now(), leaseMs);
    if (!lease) {
      result.status = "busy";
      result.because = "another process embeds this already";
      continue;
    }
    try {
      for (;;) {
        if (options.signal?.aborted || performance.now() >= until) return { ...result, status: "stopped" };
        const page = await nextPage(room, agent, space);
        if (!page) break;
        await embedPage(room, agent, space, page, result, options.signal);
        options.onProgress?.(result.embedded, await countPendingMessages(room, agent));
        lease = await renewed(room, lease);
        if (!lease) return { ...result, status: "busy", because: "another process took over" };
      }
    } catch (error) {
      // A stop in the middle of a page loses that page and nothing else.
      if (options.signal?.aborted) return { ...result, status: "stopped" };
      throw error;
    } finally {
      if (lease) await dropLease(room.store, lease);
    }
  }
  return result;
}

/** How many messages have no vector yet, counted up to a thousand. */
export async function countPendingMessages(room: SearchContext, agent: string): Promise<number> {
  const space = await room.vectorCache?.id();
  const since = space === undefined ? 0 : await watermark(room, agent, space);
  return (await messagesAfter(room.store, agent, since).select("seq").limit(1_000).execute()).length;
}

/** The plus keeps SQLite from walking the agent's index from its beginning: by number, it starts where it has to. */
export function messagesAfter(store: Store, agent: string, seq: number) {
  const query = store.db
    .selectFrom("entries")
    .where("seq", ">", seq)
    .where("kind", "in", [...roles]);
  return store.engine === "sqlite" ? query.where(sql<string>`+agent`, "=", agent) : query.where("agent", "=", agent);
}

interface Item {
  key: { seq: number; conversation: number; time: number } | { kind: string; id: string; conversation: number | null };
  text: EmbedText;
}

type RowsToWrite = { [Table in "entry_vectors" | "entry_tokens" | "document_vectors"]: Schema[Table][] };

interface Page {
  items: Item[];
  /** How far the log is done when this page is. */
  upTo?: number;
}

async function nextPage(room: SearchContext, agent: string, space: number): Promise<Page | undefined> {
  const from = await watermark(room, agent, space);
  const rows = await messagesAfter(room.store, agent, from)
    .select(["seq", "conversation", "time", "kind", "payload"])
    .orderBy("seq")
    .limit(pageRows)
    .execute();
  if (rows.length > 0) {
    const late = await lateEntries(room, agent, space, from);
    const items = [...late, ...rows].map((row): Item => {
      const { text, name } = room.decode(row.kind, row.payload);
      const { seq, conversation, time } = row;
      return { key: { seq, conversation, time }, text: { text, speaker: name ?? row.kind } };
    });
    return { items: items.filter((item) => item.text.text.trim() !== ""), upTo: rows.at(-1)?.seq };
  }
  const documents = [
    ...(await bareSummaries(room, agent, space)),
    ...(await bareFiles(room, agent, space)),
    ...(await bareChunks(room, agent, space, pageRows)),
  ];
  return documents.length === 0 ? undefined : { items: documents };
}

async function lateEntries(room: SearchContext, agent: string, space: number, upTo: number) {
  if (room.store.engine === "sqlite") return [];
  return room.store.db
    .selectFrom("entries as e")
    .select(["e.seq", "e.conversation", "e.time", "e.kind", "e.payload"])
    .where("e.agent", "=", agent)
    .where("e.seq", ">", upTo - lateRows)
    .where("e.seq", "<=", upTo)
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
    .limit(pageRows)
    .execute();
}

async function bareSummaries(room: SearchContext, agent: string, space: number): Promise<Item[]> {
  const rows = await room.store.db
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
    .limit(pageRows)
    .execute();
  return rows.map((row) => ({
    key: { kind: "summary", id: row.id, conversation: row.conversation },
    text: { text: row.content },
  }));
}

async function bareFiles(room: SearchContext, agent: string, space: number): Promise<Item[]> {
  const rows = await room.store.db
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
    .limit(pageRows)
    .execute();
  return rows.map((row) => ({
    key: { kind: "file", id: row.id, conversation: null },
    text: { text: [row.name ?? "", row.summary].filter(Boolean).join("\n") },
  }));
}

/** By what they say: a text that stands in two places is embedded once. */
async function bareChunks(room: SearchContext, agent: string, space: number, limit: number): Promise<Item[]> {
  const rows = await room.store.db
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
export async function countPendingChunks(room: SearchContext, agent: string): Promise<number> {
  return (await bareChunks(room, agent, (await room.vectorCache?.id()) ?? -1, 1_000)).length;
}

async function embedPage(
  room: SearchContext,
  agent: string,
  space: number,
  page: Page,
  result: EmbedPendingResult,
  signal: AbortSignal | undefined,
): Promise<void> {
  const texts = page.items.map((item) => item.text);
  const vectors = texts.length === 0 ? [] : ((await room.embedder?.embed(texts, signal)) ?? []);
  await room.store.transaction(async ({ db }) => {
    const seqs = page.items.flatMap((item) => ("seq" in item.key ? item.key.seq : []));
    // What was deleted while its vector was made gets none.
    const there = new Set(
      seqs.length === 0
        ? []
        : // By number alone: with the agent in the query, SQLite would walk all of its entries for every page.
          (await db.selectFrom("entries").select(["seq", "agent"]).where("seq", "in", seqs).execute()).flatMap((row) =>
            row.agent === agent ? [row.seq] : [],
          ),
    );
    const rows = rowsOf(agent, space, page.items, vectors, there);
    for (const table of ["entry_vectors", "entry_tokens", "document_vectors"] as const) {
      if (rows[table].length === 0) continue;
      await db
        .insertInto(table)
        .values(rows[table])
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    }
    if (page.upTo !== undefined) {
      const state = { agent, space, entry_seq: page.upTo, entries: there.size, updated_at: room.clock.now() };
      await db
        .insertInto("search_states")
        .values(state)
        .onConflict((conflict) =>
          conflict.columns(["agent", "space"]).doUpdateSet((eb) => ({
            entry_seq: state.entry_seq,
            entries: eb("search_states.entries", "+", there.size),
            updated_at: state.updated_at,
          })),
        )
        .execute();
    }
  });
  result.embedded += page.items.length;
  result.cutTexts += vectors.filter((made) => made.cut).length;
}

function rowsOf(
  agent: string,
  space: number,
  items: readonly Item[],
  vectors: readonly Embedded[],
  there: ReadonlySet<number>,
): RowsToWrite {
  const rows: RowsToWrite = { entry_vectors: [], entry_tokens: [], document_vectors: [] };
  for (const [index, { key }] of items.entries()) {
    const made = vectors[index];
    if (!made) continue;
    const { vector, states } = bytesOf(made);
    if (!("seq" in key)) rows.document_vectors.push({ agent, space, ...key, vector, states });
    else if (there.has(key.seq)) {
      const { seq, conversation, time } = key;
      rows.entry_vectors.push({ agent, space, seq, conversation, time, vector });
      rows.entry_tokens.push({ agent, space, seq, conversation, states });
    }
  }
  return rows;
}

function bytesOf(made: Embedded): { vector: Uint8Array; states: Uint8Array } {
  return { vector: unsigned(toBytes(made.vector)), states: unsigned(made.tokens ?? new Int8Array(0)) };
}

async function watermark(room: SearchContext, agent: string, space: number): Promise<number> {
  const row = await room.store.db
    .selectFrom("search_states")
    .select("entry_seq")
    .where("agent", "=", agent)
    .where("space", "=", space)
    .executeTakeFirst();
  return row?.entry_seq ?? 0;
}

async function agentsOf(room: SearchContext): Promise<string[]> {
  const { db } = room.store;
  const rows = await db.selectFrom("conversations").select("agent").distinct().execute();
  const withFiles = await db.selectFrom("corpus_files").select("agent").distinct().execute();
  return [...new Set([...rows, ...withFiles].map((row) => row.agent))];
}

async function renewed(room: SearchContext, lease: Lease): Promise<Lease | undefined> {
  const now = room.clock.now();
  if (lease.until - now > leaseMs / 2) return lease;
  return takeLease(room.store, lease.name, lease.owner, now, leaseMs);
}

/** The number of the embedder's space, made when this is its first vector. */
async function spaceId(room: SearchContext): Promise<number> {
  const known = await room.vectorCache?.id();
  return known ?? makeSpace(room.store, room.clock, room.embedder ? formatSpaceName(room.embedder.space) : "");
}
