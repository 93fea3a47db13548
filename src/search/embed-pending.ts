import { roles } from "../domain/index.ts";
import { type Embedded, type EmbedText, formatSpaceName, toBytes } from "../models/index.ts";
import { dropLease, isOfAgent, type Lease, type Schema, type Store, takeLease } from "../store/index.ts";
import { decodeEntryText } from "./documents.ts";
import type { SearchContext } from "./search-context.ts";
import { toUnsignedBytes } from "./vectors/math.ts";
import { createSpace } from "./vectors/spaces.ts";

export interface EmbedPendingOptions {
  /** Whose messages; those of every agent, and all memories, when absent. */
  agent?: string;
  signal?: AbortSignal;
  /** Stop after this many milliseconds; the next call continues from there. */
  msMax?: number;
  onProgress?(embedded: number, pending: number): void;
}

export interface EmbedPendingResult {
  status: "done" | "stopped" | "busy" | "no model";
  embedded: number;
  /** Texts too long for the model: their end matches by words only. */
  cutTexts: number;
  because?: string;
}

/** The size of the first page, which grows while pages take little time: a fast embedder is not slowed by round trips. */
const pageRows = 32;
const pageRowsMax = 256;
const quickPageMs = 250;
const leaseMs = 60_000;
/** Another process may commit an entry after one with a higher number, so the last rows are checked again. */
const lateRows = 256;
/** The lease for embedding memories, which belong to no agent. */
const memoriesName = "embed:memories";

/**
 * Embeds all pending texts. Appending a message writes no vector, so that it stays fast. Each page is written with its
 * progress in one short transaction: after a crash the next call continues from the last page.
 */
export async function embedPending(
  context: SearchContext,
  owner: string,
  options: EmbedPendingOptions = {},
): Promise<EmbedPendingResult> {
  const result: EmbedPendingResult = { status: "done", embedded: 0, cutTexts: 0 };
  if (!context.embedder || !context.vectorCache)
    return { ...result, status: "no model", because: "no embedding model is installed" };
  const space = await findOrCreateSpace(context);
  const until = options.msMax === undefined ? Number.POSITIVE_INFINITY : performance.now() + options.msMax;
  for (const queue of await listQueues(context, space, options)) {
    const ended = await drainQueue(context, owner, queue, { ...options, until }, result);
    if (ended === "stopped") return { ...result, status: "stopped" };
    if (ended === "busy") {
      result.status = "busy";
      result.because = "another process is embedding";
    }
  }
  return result;
}

/** Embeds the memories that have no vector yet, at most `max` of them. */
export async function embedPendingMemories(
  context: SearchContext,
  owner: string,
  { max, signal }: { max: number; signal?: AbortSignal },
): Promise<EmbedPendingResult> {
  const result: EmbedPendingResult = { status: "done", embedded: 0, cutTexts: 0 };
  const queue = createMemoryQueue(context, await findOrCreateSpace(context));
  result.status = await drainQueue(context, owner, queue, { signal, max, until: Number.POSITIVE_INFINITY }, result);
  return result;
}

/** Embeds texts for comparison only; nothing is written but the space itself. */
export async function embedTexts(
  context: SearchContext,
  texts: readonly string[],
  signal?: AbortSignal,
): Promise<{ space: number; vectors: (Float32Array | undefined)[] }> {
  const made = await context.embedder?.embed(
    texts.map((text) => ({ text })),
    signal,
  );
  return { space: await findOrCreateSpace(context), vectors: (made ?? []).map((one) => one.vector) };
}

/** One kind of pending texts, embedded by one process at a time. */
interface EmbeddingQueue {
  /** The name of its lease. */
  name: string;
  /** The next texts to embed, and how to write their vectors. */
  nextPage(
    rows: number,
  ): Promise<{ texts: EmbedText[]; write(vectors: readonly Embedded[]): Promise<void> } | undefined>;
  countPending(): Promise<number>;
}

async function listQueues(
  context: SearchContext,
  space: number,
  { agent }: EmbedPendingOptions,
): Promise<EmbeddingQueue[]> {
  if (agent !== undefined) return [createAgentQueue(context, space, agent)];
  const agents = await listAgents(context);
  return [...agents.map((one) => createAgentQueue(context, space, one)), createMemoryQueue(context, space)];
}

async function drainQueue(
  context: SearchContext,
  owner: string,
  queue: EmbeddingQueue,
  { signal, until, max = Number.POSITIVE_INFINITY, onProgress }: EmbedPendingOptions & { until: number; max?: number },
  result: EmbedPendingResult,
): Promise<"done" | "stopped" | "busy"> {
  const { store } = context;
  // Without pending texts no lease is needed.
  if (!(await queue.nextPage(1))) return "done";
  let lease = await takeLease(store, queue.name, owner, store.clock.now(), leaseMs);
  if (!lease) return "busy";
  try {
    for (let [embedded, rows] = [0, pageRows]; embedded < max; ) {
      const began = performance.now();
      if (signal?.aborted || began >= until) return "stopped";
      const page = await queue.nextPage(rows);
      if (!page) break;
      const vectors: Embedded[] =
        page.texts.length === 0 ? [] : ((await context.embedder?.embed(page.texts, signal)) ?? []);
      await page.write(vectors);
      embedded += page.texts.length;
      result.embedded += page.texts.length;
      result.cutTexts += vectors.filter((made) => made.cut).length;
      onProgress?.(result.embedded, await queue.countPending());
      if (performance.now() - began < quickPageMs) rows = Math.min(pageRowsMax, 2 * rows);
      lease = await renewLease(store, lease);
      if (!lease) return "busy";
    }
    return "done";
  } catch (error) {
    // An abort loses at most the current page.
    if (signal?.aborted) return "stopped";
    throw error;
  } finally {
    if (lease) await dropLease(store, lease);
  }
}

/** The messages of an agent, then its summaries, files and corpus chunks. */
function createAgentQueue(context: SearchContext, space: number, agent: string): EmbeddingQueue {
  return {
    name: `embed:${space}:${agent}`,
    async nextPage(rows) {
      const page = await nextPage(context, agent, space, rows);
      if (!page) return undefined;
      return {
        texts: page.items.map((item) => item.text),
        write: (vectors) => writePage(context, agent, space, page, vectors),
      };
    },
    countPending: () => countPendingMessages(context, agent),
  };
}

function createMemoryQueue({ store, memoryVectors }: SearchContext, space: number): EmbeddingQueue {
  return {
    name: memoriesName,
    async nextPage(limit) {
      const rows = (await memoryVectors?.findPending(limit)) ?? [];
      if (rows.length === 0) return undefined;
      return {
        texts: rows.map((row) => ({ text: row.abstract })),
        write: (vectors) =>
          writeMemoryVectors(
            store,
            rows.flatMap(({ scope, num, id }, index) => {
              const made = vectors[index];
              return made ? [{ scope, space, num, memory: id, vector: toUnsignedBytes(toBytes(made.vector)) }] : [];
            }),
          ),
      };
    },
    countPending: async () => 0,
  };
}

/** Skips memories that were purged while they were embedded. */
async function writeMemoryVectors(
  store: Store,
  values: readonly { scope: string; space: number; num: number; memory: string; vector: Uint8Array }[],
): Promise<void> {
  await store.transaction(async ({ db }) => {
    const ids = values.map((row) => row.memory);
    const rows = ids.length === 0 ? [] : await db.selectFrom("memories").select("id").where("id", "in", ids).execute();
    const existing = new Set(rows.map((row) => row.id));
    const left = values.filter((row) => existing.has(row.memory));
    if (left.length === 0) return;
    await db
      .insertInto("memory_vectors")
      .values(left.map((row) => (store.vectors ? { ...row, embedding: store.vectors.encode(row.vector) } : row)))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  });
}

/** How many messages have no vector yet, counted up to a thousand. */
export async function countPendingMessages(context: SearchContext, agent: string): Promise<number> {
  const space = await context.vectorCache?.id();
  const since = space === undefined ? 0 : await readWatermark(context, agent, space);
  return (await selectMessagesAfter(context.store, agent, since).select("seq").limit(1_000).execute()).length;
}

export function selectMessagesAfter(store: Store, agent: string, seq: number) {
  return store.db
    .selectFrom("entries")
    .where("seq", ">", seq)
    .where("kind", "in", [...roles])
    .where(isOfAgent(store, agent));
}

interface Item {
  key: { seq: number; conversation: number; time: number } | { kind: string; id: string; conversation: number | null };
  text: EmbedText;
}

type RowsToWrite = { [Table in "entry_vectors" | "entry_tokens" | "document_vectors"]: Schema[Table][] };

interface Page {
  items: Item[];
  /** The entry up to which everything is embedded once this page is written. */
  upTo?: number;
}

async function nextPage(
  context: SearchContext,
  agent: string,
  space: number,
  limit: number,
): Promise<Page | undefined> {
  const from = await readWatermark(context, agent, space);
  const rows = await selectMessagesAfter(context.store, agent, from)
    .select(["seq", "conversation", "time", "kind", "payload"])
    .orderBy("seq")
    .limit(limit)
    .execute();
  if (rows.length > 0) {
    const late = await findLateEntries(context, agent, space, from);
    const items = [...late, ...rows].map((row): Item => {
      const { text, name } = decodeEntryText(row.kind, row.payload);
      const { seq, conversation, time } = row;
      return { key: { seq, conversation, time }, text: { text, speaker: name ?? row.kind } };
    });
    return { items: items.filter((item) => item.text.text.trim() !== ""), upTo: rows.at(-1)?.seq };
  }
  const documents = [
    ...(await findPendingSummaries(context, agent, space)),
    ...(await findPendingFiles(context, agent, space)),
    ...(await findPendingChunks(context, agent, space, pageRows)),
  ];
  return documents.length === 0 ? undefined : { items: documents };
}

async function findLateEntries(context: SearchContext, agent: string, space: number, upTo: number) {
  if (context.store.engine === "sqlite") return [];
  return context.store.db
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

async function findPendingSummaries(context: SearchContext, agent: string, space: number): Promise<Item[]> {
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
    .limit(pageRows)
    .execute();
  return rows.map((row) => ({
    key: { kind: "summary", id: row.id, conversation: row.conversation },
    text: { text: row.content },
  }));
}

async function findPendingFiles(context: SearchContext, agent: string, space: number): Promise<Item[]> {
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
    .limit(pageRows)
    .execute();
  return rows.map((row) => ({
    key: { kind: "file", id: row.id, conversation: null },
    text: { text: [row.name ?? "", row.summary].filter(Boolean).join("\n") },
  }));
}

/** By content hash: a text that occurs in two places is embedded once. */
async function findPendingChunks(context: SearchContext, agent: string, space: number, limit: number): Promise<Item[]> {
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
  return (await findPendingChunks(context, agent, (await context.vectorCache?.id()) ?? -1, 1_000)).length;
}

async function writePage(
  context: SearchContext,
  agent: string,
  space: number,
  page: Page,
  vectors: readonly Embedded[],
): Promise<void> {
  await context.store.transaction(async ({ db }) => {
    const seqs = page.items.flatMap((item) => ("seq" in item.key ? item.key.seq : []));
    // Entries that were deleted while they were embedded are skipped.
    const existing = new Set(
      seqs.length === 0
        ? []
        : (
            await db
              .selectFrom("entries")
              .select("seq")
              .where("seq", "in", seqs)
              .where(isOfAgent(context.store, agent))
              .execute()
          ).map((row) => row.seq),
    );
    const encode = context.store.vectors?.encode;
    const rows = toVectorRows({ agent, space, encode }, page.items, vectors, existing);
    for (const table of ["entry_vectors", "entry_tokens", "document_vectors"] as const) {
      if (rows[table].length === 0) continue;
      await db
        .insertInto(table)
        .values(rows[table])
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    }
    if (page.upTo !== undefined) {
      const state = {
        agent,
        space,
        entry_seq: page.upTo,
        entries: existing.size,
        updated_at: context.store.clock.now(),
      };
      await db
        .insertInto("search_states")
        .values(state)
        .onConflict((conflict) =>
          conflict.columns(["agent", "space"]).doUpdateSet((eb) => ({
            entry_seq: state.entry_seq,
            entries: eb("search_states.entries", "+", existing.size),
            updated_at: state.updated_at,
          })),
        )
        .execute();
    }
  });
}

function toVectorRows(
  { agent, space, encode }: { agent: string; space: number; encode?: (vector: Uint8Array) => string },
  items: readonly Item[],
  vectors: readonly Embedded[],
  existing: ReadonlySet<number>,
): RowsToWrite {
  const rows: RowsToWrite = { entry_vectors: [], entry_tokens: [], document_vectors: [] };
  for (const [index, { key }] of items.entries()) {
    const made = vectors[index];
    if (!made) continue;
    const { vector, states } = toStoredBytes(made);
    if (!("seq" in key)) rows.document_vectors.push({ agent, space, ...key, vector, states });
    else if (existing.has(key.seq)) {
      const { seq, conversation, time } = key;
      rows.entry_vectors.push({
        ...{ agent, space, seq, conversation, time, vector },
        ...(encode ? { embedding: encode(vector) } : {}),
      });
      rows.entry_tokens.push({ agent, space, seq, conversation, states });
    }
  }
  return rows;
}

function toStoredBytes(made: Embedded): { vector: Uint8Array; states: Uint8Array } {
  return { vector: toUnsignedBytes(toBytes(made.vector)), states: toUnsignedBytes(made.tokens ?? new Int8Array(0)) };
}

async function readWatermark(context: SearchContext, agent: string, space: number): Promise<number> {
  const row = await context.store.db
    .selectFrom("search_states")
    .select("entry_seq")
    .where("agent", "=", agent)
    .where("space", "=", space)
    .executeTakeFirst();
  return row?.entry_seq ?? 0;
}

async function listAgents(context: SearchContext): Promise<string[]> {
  const { db } = context.store;
  const rows = await db.selectFrom("conversations").select("agent").distinct().execute();
  const withFiles = await db.selectFrom("corpus_files").select("agent").distinct().execute();
  return [...new Set([...rows, ...withFiles].map((row) => row.agent))];
}

async function renewLease(store: Store, lease: Lease): Promise<Lease | undefined> {
  const now = store.clock.now();
  if (lease.until - now > leaseMs / 2) return lease;
  return takeLease(store, lease.name, lease.owner, now, leaseMs);
}

/** The id of the embedder's space, created when this is its first vector. */
async function findOrCreateSpace({ store, vectorCache, embedder }: SearchContext): Promise<number> {
  return (await vectorCache?.id()) ?? createSpace(store, embedder ? formatSpaceName(embedder.space) : "");
}
